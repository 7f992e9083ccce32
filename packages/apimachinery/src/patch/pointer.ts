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
 * An index may be equal to `length` where something is inserted: give one more.
 *
 * @throws OperationError
 */
export function indexIn(key: string, length: number): number {
  const exact = integer(key);
  const index = Number(exact);
  if (index >= length || index < -length)
    throw new OperationError(`Unable to access invalid index: ${exact}: invalid index referenced`);
  return index < 0 ? index + length : index;
}

/** As Go's strconv.Atoi. */
function integer(key: string): bigint {
  if (!/^[+-]?[0-9]+$/.test(key)) throw new OperationError(`strconv.Atoi: parsing ${quote(key)}: invalid syntax`);
  const sign = /^[+-]/.exec(key)?.[0] ?? "";
  const digits = key.slice(sign.length).replace(/^0+(?=[0-9])/, "");
  const value = digits.length > 19 ? MAX_INT64 + 1n : BigInt(digits);
  if (value > MAX_INT64) throw new OperationError(`strconv.Atoi: parsing ${quote(key)}: value out of range`);
  return sign === "-" ? -value : value;
}

const MAX_INT64 = 2n ** 63n - 1n;
