import { isJsonObject, type JsonObject, memberOf, setMember } from "../json/value.ts";
import { quote } from "../text/go-format.ts";
import type { Effort } from "./effort.ts";

/** Value that a pointer can lead through. */
export type Container = JsonObject | unknown[];

/** Document under change. Changed containers are copied once, shallowly; all others are shared with the original. */
export class PatchedDocument {
  #root: Container;
  /** Containers that are copies of this document. None of them is reachable twice. */
  readonly #owned = new WeakSet<Container>();
  readonly #effort: Effort;

  constructor(root: Container, effort: Effort) {
    this.#root = root;
    this.#effort = effort;
  }

  get root(): Container {
    return this.#root;
  }

  replaceRoot(root: Container): void {
    this.#root = root;
  }

  /** Whether the parents lead to an object or array. */
  reaches({ parents }: Pointer): boolean {
    return this.#follow(parents) !== undefined;
  }

  /** Returns a value. As in Kubernetes, a missing member is `undefined`, and a missing element an error. @throws OperationError */
  get({ parents, key }: Pointer): unknown {
    const container = this.#follow(parents);
    if (container === undefined) return undefined;
    return Array.isArray(container) ? container[indexIn(key, container.length)] : memberOf(container, key);
  }

  /** Sets a member or inserts an element. @throws OperationError */
  add({ parents, key }: Pointer, value: unknown): void {
    const container = this.#own(parents);
    if (Array.isArray(container)) this.#insert(container, key, value);
    else setMember(container, key, value);
  }

  /** Sets a member or an element. @throws OperationError */
  set({ parents, key }: Pointer, value: unknown): void {
    const container = this.#own(parents);
    if (Array.isArray(container)) container[indexIn(key, container.length)] = value;
    else setMember(container, key, value);
  }

  /** @throws OperationError if there is nothing to remove */
  remove({ parents, key }: Pointer): void {
    const container = this.#own(parents);
    if (Array.isArray(container)) {
      const index = indexIn(key, container.length);
      this.#effort.shift(container.length - index);
      container.splice(index, 1);
    } else if (Object.hasOwn(container, key)) {
      delete container[key];
    } else {
      throw new OperationError(`Unable to remove nonexistent key: ${key}: missing value`);
    }
  }

  #insert(array: unknown[], key: string, value: unknown): void {
    if (key === "-") {
      array.push(value);
      return;
    }
    const index = insertionIndexIn(key, array.length);
    this.#effort.shift(array.length - index);
    array.splice(index, 0, value);
  }

  #follow(steps: readonly string[]): Container | undefined {
    let at: Container = this.#root;
    for (const step of steps) {
      const next = childOf(at, step)?.value;
      if (!isContainer(next)) return undefined;
      at = next;
    }
    return at;
  }

  /** Returns the container as an own copy. Copies all containers on the way to it, and no others. */
  #own(steps: readonly string[]): Container {
    this.#root = this.#copyOf(this.#root);
    let at = this.#root;
    for (const step of steps) {
      const child = childOf(at, step);
      if (child === undefined || !isContainer(child.value)) throw new OperationError("missing value");
      const copy = this.#copyOf(child.value);
      if (Array.isArray(at)) at[child.key as number] = copy;
      else setMember(at, child.key as string, copy);
      at = copy;
    }
    return at;
  }

  #copyOf(container: Container): Container {
    if (this.#owned.has(container)) return container;
    const copy = Array.isArray(container) ? [...container] : { ...container };
    this.#owned.add(copy);
    return copy;
  }
}

export function isContainer(value: unknown): value is Container {
  return Array.isArray(value) || isJsonObject(value);
}

function childOf(container: Container, step: string): { key: string | number; value: unknown } | undefined {
  if (!Array.isArray(container)) return { key: step, value: memberOf(container, step) };
  const key = findIndexIn(step, container.length);
  return key === undefined ? undefined : { key, value: container[key] };
}

/** Failure within an operation; {@link applyJsonPatch} adds which one. The texts are Kubernetes' own. */
export class OperationError extends Error {}

/** JSON pointer (RFC 6901), split into the last step and the steps before it. */
export interface Pointer {
  readonly parents: readonly string[];
  readonly key: string;
}

/** Parses a pointer. Returns `undefined` without a slash, as for the whole document. Text before the first slash is ignored. */
export function parsePointer(path: string): Pointer | undefined {
  const steps = path.split("/").slice(1).map(unescaped);
  const key = steps.pop();
  return key === undefined ? undefined : { parents: steps, key };
}

/** Unescapes like Go's replacer: left to right, so that `~01` becomes `~1`; a lone tilde stays. */
function unescaped(step: string): string {
  return step.includes("~") ? step.replace(/~[01]/g, (pair) => (pair === "~1" ? "/" : "~")) : step;
}

/**
 * Returns the index of `key` in an array of `length`. A negative one counts from the end, as in Kubernetes but not the RFC.
 *
 * @throws OperationError
 */
function indexIn(key: string, length: number): number {
  const index = integer(key);
  if (typeof index === "string") throw new OperationError(index);
  return checkedPlace(index, length);
}

/** Like {@link indexIn}, for an insertion. @throws OperationError */
function insertionIndexIn(key: string, length: number): number {
  const index = integer(key);
  if (typeof index === "string") throw new OperationError(`value was not a proper array index: '${key}': ${index}`);
  return checkedPlace(index, length + 1);
}

/** Like {@link indexIn}; `undefined` if there is no such element. */
function findIndexIn(key: string, length: number): number | undefined {
  const index = integer(key);
  return typeof index === "string" ? undefined : place(index, length);
}

function checkedPlace(index: bigint, length: number): number {
  const found = place(index, length);
  if (found === undefined)
    throw new OperationError(`Unable to access invalid index: ${index}: invalid index referenced`);
  return found;
}

function place(exact: bigint, length: number): number | undefined {
  const index = Number(exact);
  if (index >= length || index < -length) return undefined;
  return index < 0 ? index + length : index;
}

/** Parses an integer like Go's strconv.Atoi; returns its error text for an invalid one. */
function integer(key: string): bigint | string {
  if (!/^[+-]?[0-9]+$/.test(key)) return `strconv.Atoi: parsing ${quote(key)}: invalid syntax`;
  const sign = /^[+-]/.exec(key)?.[0] ?? "";
  const digits = key.slice(sign.length).replace(/^0+(?=[0-9])/, "");
  const value = digits.length > 19 ? MAX_INT64 + 1n : BigInt(digits);
  if (value > MAX_INT64) return `strconv.Atoi: parsing ${quote(key)}: value out of range`;
  return sign === "-" ? -value : value;
}

const MAX_INT64 = 2n ** 63n - 1n;
