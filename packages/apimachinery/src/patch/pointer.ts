import { quote } from "../quote.ts";

/** What goes wrong in an operation; {@link applyJsonPatch} says in which. The texts are Kubernetes' own. */
export class OperationError extends Error {}

/** A JSON pointer (RFC 6901), taken apart: where the last step is taken, and that step. */
export interface Pointer {
  readonly parents: readonly string[];
  readonly key: string;
}

/** `undefined` for a pointer without a slash, the whole document's among them. What stands before the first one is ignored. */
export function parsePointer(path: string): Pointer | undefined {
  const steps = path.split("/").slice(1).map(unescaped);
  const key = steps.pop();
  return key === undefined ? undefined : { parents: steps, key };
}

/** As Go's replacer: left to right, so that `~01` is `~1`; a lone tilde stays. */
function unescaped(step: string): string {
  return step.includes("~") ? step.replace(/~[01]/g, (pair) => (pair === "~1" ? "/" : "~")) : step;
}

/**
 * Where `key` points in an array of `length`; a negative one counts from the end, which no RFC knows but Kubernetes does.
 *
 * @throws OperationError
 */
export function indexIn(key: string, length: number): number {
  const index = integer(key);
  if (typeof index === "string") throw new OperationError(index);
  return checkedPlace(index, length);
}

/** As {@link indexIn}, where something is inserted. @throws OperationError */
export function insertionIndexIn(key: string, length: number): number {
  const index = integer(key);
  if (typeof index === "string") throw new OperationError(`value was not a proper array index: '${key}': ${index}`);
  return checkedPlace(index, length + 1);
}

/** As {@link indexIn}; `undefined` when there is no such element. */
export function findIndexIn(key: string, length: number): number | undefined {
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

/** As Go's strconv.Atoi: the integer, or what is wrong. */
function integer(key: string): bigint | string {
  if (!/^[+-]?[0-9]+$/.test(key)) return `strconv.Atoi: parsing ${quote(key)}: invalid syntax`;
  const sign = /^[+-]/.exec(key)?.[0] ?? "";
  const digits = key.slice(sign.length).replace(/^0+(?=[0-9])/, "");
  const value = digits.length > 19 ? MAX_INT64 + 1n : BigInt(digits);
  if (value > MAX_INT64) return `strconv.Atoi: parsing ${quote(key)}: value out of range`;
  return sign === "-" ? -value : value;
}

const MAX_INT64 = 2n ** 63n - 1n;
