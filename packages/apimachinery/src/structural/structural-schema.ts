import { cloneJson, isJsonObject, type JsonObject, setMember } from "../json/value.ts";
import { boundedCauses, type Causes } from "../meta/field-cause.ts";
import type { StatusCause } from "../meta/status.ts";
import type { JsonSchema } from "../schema.ts";
import { checkValues } from "./check.ts";
import { compileNode } from "./compile-node.ts";
import { checkEmbedded, coerceEmbedded } from "./embedded.ts";
import { checkListTypes } from "./list-types.ts";
import { memberNode, nativePattern, type PatternCompiler, type SchemaNode } from "./node.ts";
import { pruneNulls, pruneValue } from "./prune-fields.ts";
import { type RuleSite, walkRules } from "./rules.ts";

/** Options of {@link compileSchema}. */
export interface CompileOptions {
  /**
   * Compiles a regular expression into a check of texts. Default: ECMAScript's own, with flag `u`. Security: a pattern can
   * block that engine forever, so pass a compiler with linear time for untrusted schemas.
   */
  readonly pattern?: PatternCompiler;
}

/**
 * Compiles a schema for the objects of a kind. The schema must be valid: see {@link structuralProblems}.
 *
 * @throws SyntaxError, or the error of `pattern`, for an invalid regular expression
 */
export function compileSchema(schema: JsonSchema, options: CompileOptions = {}): StructuralSchema {
  return new StructuralSchema(schema, options);
}

/** Compiled schema of a kind. Its methods are the steps of an API server before it stores an object, in this order. */
export class StructuralSchema {
  readonly schema: JsonSchema;
  readonly #node: SchemaNode;

  /** Use {@link compileSchema}. */
  constructor(schema: JsonSchema, { pattern = nativePattern }: CompileOptions) {
    this.schema = schema;
    this.#node = compileNode(schema, { pattern });
  }

  /** Whether the schema has `x-kubernetes-validations` anywhere. */
  get hasRules(): boolean {
    return this.#node.tasks.rules;
  }

  /**
   * Removes unknown fields, and null where it means missing, in place; converts the metadata of embedded resources to an
   * ObjectMeta. The object's own apiVersion, kind and metadata stay.
   *
   * @returns the paths of the unknown fields, for field validation: `spec.list[0].bar`
   * @throws ApiError 400 for an embedded resource with an apiVersion, kind or metadata of a wrong type
   */
  prune(object: JsonObject): string[] {
    const unknown = pruneValue(object, this.#node, true);
    pruneNulls(object, this.#node);
    return [...unknown, ...coerceEmbedded(this.#node, object)];
  }

  /** Removes unknown fields only: nulls of an applied configuration stay, and validation reports them. */
  pruneUnknown(object: JsonObject): void {
    pruneValue(object, this.#node, true);
  }

  /** Sets missing fields to their defaults, in place. */
  setDefaults(object: JsonObject): void {
    setDefaults(object, this.#node);
  }

  /**
   * Returns the faults of an object, in Kubernetes' words: of its values, its embedded resources, and its lists of type set
   * or map. Other code checks its own metadata and `x-kubernetes-validations`.
   *
   * @param old The object before the write: unchanged values may stay invalid (CRDValidationRatcheting)
   * @returns up to a thousand causes
   */
  validate(object: JsonObject, old?: JsonObject): StatusCause[] {
    return boundedCauses(this.#problems(object, old));
  }

  *#problems(object: JsonObject, old: JsonObject | undefined): Causes {
    yield* checkValues(this.#node, object, { old });
    yield* checkEmbedded(this.#node, object);
    yield* this.#checkLists(object, old);
  }

  /** Like {@link validate}, for a write of the status alone: ignores faults elsewhere, except in lists. */
  validateStatus(object: JsonObject, old: JsonObject): StatusCause[] {
    return boundedCauses(this.#statusProblems(object, old));
  }

  *#statusProblems(object: JsonObject, old: JsonObject): Causes {
    const node = this.#node.properties?.get("status");
    if (node !== undefined && object["status"] !== undefined)
      yield* checkValues(node, object["status"], { old: old["status"], prefix: "status" });
    yield* this.#checkLists(object, old);
  }

  /** Yields the sites of `x-kubernetes-validations`: parents first, members in the object's order. */
  rules(object: JsonObject, old?: JsonObject): Iterable<RuleSite> {
    return walkRules(this.#node, object, { old });
  }

  /** A list with a fault may keep it or get another one. */
  #checkLists(object: JsonObject, old: JsonObject | undefined): StatusCause[] {
    const causes = checkListTypes(this.#node, object);
    return causes.length > 0 && old !== undefined && checkListTypes(this.#node, old).length > 0 ? [] : causes;
  }
}

/**
 * Sets missing fields to the schema's defaults, in place and at every level, also within defaults (apiextensions'
 * defaulting.Default). Null counts as missing where the schema does not allow it. Defaults are copied.
 */
function setDefaults(value: unknown, node: SchemaNode): void {
  if (!node.tasks.defaults) return;
  if (Array.isArray(value)) {
    if (node.items !== undefined) setItemDefaults(value, node.items);
  } else if (isJsonObject(value)) setMemberDefaults(value, node);
}

function setItemDefaults(list: unknown[], node: SchemaNode): void {
  for (const [at, item] of list.entries()) {
    if (item === null && !node.nullable) list[at] = cloneJson(node.default ?? null);
    setDefaults(list[at], node);
  }
}

function setMemberDefaults(object: JsonObject, node: SchemaNode): void {
  for (const [name, member] of node.defaulted) {
    const missing = !Object.hasOwn(object, name) || object[name] === undefined;
    if (missing || (object[name] === null && !member.nullable)) setMember(object, name, cloneJson(member.default));
  }
  for (const name of Object.keys(object)) {
    const member = memberNode(node, name);
    if (member === undefined) continue;
    if (object[name] === null && !member.nullable && member.default !== undefined)
      setMember(object, name, cloneJson(member.default));
    setDefaults(object[name], member);
  }
}
