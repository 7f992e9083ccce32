import { MAX_JSON_DEPTH } from "../json/parse.ts";
import { cloneJson, isJsonObject, type JsonObject, memberOf } from "../json/value.ts";
import { ApiError } from "../meta/api-error.ts";
import {
  type Container,
  isContainer,
  OperationError,
  PatchedDocument,
  type Pointer,
  parsePointer,
} from "./document.ts";
import { Effort, type Measure, measure, same } from "./effort.ts";
import { cannotUnmarshal, inapplicable, undecodable } from "./errors.ts";

/** Maximum size that the `copy` operations of one patch may add, in bytes, as in Kubernetes (`JSONPatchMaxCopyBytes`). */
const MAX_COPY_BYTES = 3 * 1024 * 1024;

/**
 * Applies a JSON patch (RFC 6902) as a Kubernetes API server does. Differences from the RFC: a negative index counts from the
 * end, `replace` sets a missing member, `test` treats a missing member as null, and `add` cannot replace the whole document.
 * The result shares unchanged parts with `document`; neither it nor `patch` is changed.
 *
 * Security: the patch is untrusted. It may have at most 10,000 operations, 3 MiB of copies and {@link MAX_JSON_DEPTH} levels,
 * and its total cost is limited.
 *
 * @throws ApiError 400 for a value that is not a JSON patch. 422 for a patch that cannot be applied, with a cause that names
 * the operation (`patch[2]`) and the reason. 413 for one that is too large.
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  const operations = readOperations(patch);
  if (!isContainer(document)) throw new TypeError("a JSON patch applies to an object or an array");
  const run = new PatchRun(document);
  for (const [at, operation] of operations.entries()) {
    try {
      run.apply(operation);
    } catch (error) {
      throw error instanceof OperationError ? inapplicable(error.message, `patch[${at}]`) : error;
    }
  }
  return run.result;
}

/** Application of one patch. Messages are those of Kubernetes' library. */
class PatchRun {
  readonly #effort = new Effort();
  readonly #draft: PatchedDocument;
  #copied = 0;

  constructor(document: Container) {
    this.#draft = new PatchedDocument(document, this.#effort);
  }

  get result(): unknown {
    return this.#draft.root;
  }

  apply(operation: Operation): void {
    switch (operation.op) {
      case "add":
        this.#add(operation);
        break;
      case "remove":
        this.#remove(operation);
        break;
      case "replace":
        this.#replace(operation);
        break;
      case "move":
        this.#move(operation);
        break;
      case "copy":
        this.#copy(operation);
        break;
      case "test":
        this.#test(operation);
        break;
      default:
        throw new OperationError(`Unexpected kind: ${operation.op}`);
    }
  }

  #add({ path, value = null }: Operation): void {
    if (path === undefined) throw new OperationError("add operation failed to decode path: missing value");
    const target = this.#reach(path, `add operation does not apply: doc is missing path: "${path}"`);
    this.#fits(target, this.#measure(value));
    within(`error in add for path: '${path}'`, () => this.#draft.add(target, value));
  }

  #remove({ path }: Operation): void {
    if (path === undefined) throw new OperationError("remove operation failed to decode path: missing value");
    const target = this.#reach(path, `remove operation does not apply: doc is missing path: "${path}"`);
    within(`error in remove for path: '${path}'`, () => this.#draft.remove(target));
  }

  #replace({ path, value = null }: Operation): void {
    if (path === undefined) throw new OperationError(`replace operation failed to decode path: ${NO_PATH}`);
    if (path === "") this.#replaceAll(value);
    else this.#replaceAt(path, value);
  }

  #replaceAt(path: string, value: unknown): void {
    const target = this.#reach(path, `replace operation does not apply: doc is missing path: ${path}`);
    within(`replace operation does not apply: doc is missing key: ${path}: missing value`, () =>
      this.#draft.get(target),
    );
    this.#fits(target, this.#measure(value));
    this.#draft.set(target, value);
  }

  #replaceAll(value: unknown): void {
    if (!isContainer(value)) throw new OperationError("replace operation value must be object or array");
    this.#draft.replaceRoot(value);
  }

  #move({ from, path }: Operation): void {
    const source = this.#source("move", from);
    const error = `error in move for path: '${source.key}'`;
    const value = within(error, () => this.#draft.get(source)) ?? null;
    within(error, () => this.#draft.remove(source));
    if (path === undefined) throw new OperationError(`move operation failed to decode path: ${NO_PATH}`);
    const target = this.#reach(path, `move operation does not apply: doc is missing destination path: ${path}`);
    if (target.parents.length > source.parents.length) this.#fits(target, this.#measure(value));
    within(`error in move for path: '${path}'`, () => this.#draft.add(target, value));
  }

  #copy({ from, path }: Operation): void {
    const source = this.#source("copy", from);
    const value = within(`error in copy for from: '${from}'`, () => this.#draft.get(source)) ?? null;
    if (path === undefined) throw new OperationError("copy operation failed to decode path: missing value");
    const target = this.#reach(path, `copy operation does not apply: doc is missing destination path: ${path}`);
    const size = this.#measure(value);
    this.#copied += value === null ? 0 : size.bytes;
    if (this.#copied > MAX_COPY_BYTES) {
      const limit = `exceeding the limit ${MAX_COPY_BYTES}`;
      throw new OperationError(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copied}, ${limit}`,
      );
    }
    this.#fits(target, size);
    within("error while adding value during copy", () => this.#draft.add(target, cloneJson(value)));
  }

  #test({ path, value }: Operation): void {
    if (path === undefined) throw new OperationError(`test operation failed to decode path: ${NO_PATH}`);
    if (!same(this.#tested(path), value ?? null, this.#effort))
      throw new OperationError(`testing value ${path} failed: test failed`);
  }

  #tested(path: string): unknown {
    if (path === "") return this.#draft.root;
    const target = this.#reach(path, `test operation does not apply: is missing path: ${path}`);
    return within(`error in test for path: '${path}'`, () => this.#draft.get(target)) ?? null;
  }

  #source(op: string, from: string | undefined): Pointer {
    if (from === undefined)
      throw new OperationError(`${op} operation failed to decode from: operation, missing from field: missing value`);
    return this.#reach(from, `${op} operation does not apply: doc is missing from path: ${from}`);
  }

  #reach(path: string, missing: string): Pointer {
    const pointer = parsePointer(path);
    if (pointer === undefined || !this.#draft.reaches(pointer)) throw new OperationError(`${missing}: missing value`);
    return pointer;
  }

  #measure(value: unknown): Measure {
    return measure(value, MAX_JSON_DEPTH, this.#effort);
  }

  /** Security: code that walks a document is recursive, so no patch may make it deeper than a body can be. */
  #fits({ parents }: Pointer, { depth }: Measure): void {
    if (parents.length + 1 + depth > MAX_JSON_DEPTH)
      throw new OperationError(`the result would be nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
}

const NO_PATH = "operation missing path field: missing value";

function within<T>(context: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw error instanceof OperationError ? new OperationError(`${context}: ${error.message}`) : error;
  }
}

/** Operation of a JSON patch, parsed but not yet checked against the document. */
interface Operation {
  readonly op: string;
  readonly path: string | undefined;
  readonly from: string | undefined;
  /** `undefined` if the operation has no value. */
  readonly value: unknown;
}

/** Maximum number of operations in a JSON patch, as in Kubernetes. */
const MAX_OPERATIONS = 10_000;

/** @throws ApiError 400, 413 */
function readOperations(patch: unknown): readonly Operation[] {
  if (patch === null) return [];
  if (!Array.isArray(patch)) throw undecodable(cannotUnmarshal(patch, "value of type []handlers.jsonPatchOp"));
  if (patch.length > MAX_OPERATIONS) {
    const allowed = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`;
    throw ApiError.requestEntityTooLarge(allowed);
  }
  return patch.map(readOperation);
}

function readOperation(operation: unknown): Operation {
  if (operation === null) return { op: "unknown", path: undefined, from: undefined, value: undefined };
  if (!isJsonObject(operation)) throw undecodable(cannotUnmarshal(operation, "value of type handlers.jsonPatchOp"));
  const op = stringMember(operation, "op") ?? "unknown";
  return {
    op,
    path: stringMember(operation, "path"),
    from: stringMember(operation, "from"),
    value: memberOf(operation, "value"),
  };
}

function stringMember(operation: JsonObject, name: string): string | undefined {
  const text = memberOf(operation, name) ?? undefined;
  if (text === undefined || typeof text === "string") return text;
  throw undecodable(cannotUnmarshal(text, `struct field jsonPatchOp.${name} of type string`));
}

const MEMBERS = new Set(["op", "path", "from", "value"]);
/** Maximum number of warnings, as in Kubernetes. */
const MAX_WARNINGS = 100;

/**
 * Returns the unknown members of operations: warnings with `fieldValidation` Warn, errors with Strict. At most a hundred, in
 * Kubernetes' words (`json patch unknown field "[0].vlaue"`).
 */
export function unknownJsonPatchFields(patch: unknown): string[] {
  const found: string[] = [];
  if (!Array.isArray(patch)) return found;
  for (const [at, operation] of patch.entries()) {
    if (!isJsonObject(operation)) continue;
    for (const name of Object.keys(operation)) {
      if (found.length === MAX_WARNINGS) return found;
      if (!MEMBERS.has(name)) found.push(`json patch unknown field "[${at}].${name}"`);
    }
  }
  return found;
}
