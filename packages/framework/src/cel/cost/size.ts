import type { Node } from "../library/node.ts";
import type { Shape } from "../types/shape.ts";

/** How large a value may be: elements, entries, characters or bytes; scalars are 1. */
export interface Size {
  readonly min: number;
  readonly max: number;
}

/** What is known of an expression before it runs. */
export interface Estimate {
  /** What evaluating it may cost at most, in Kubernetes' units. */
  readonly cost: number;
  /** Undefined if nothing is known. */
  readonly size: Size | undefined;
  /** If it is a part of the object. */
  readonly shape?: Shape | undefined;
  /** Of lists and maps that expressions made: the size of their values, and keys. */
  readonly element?: Estimate | undefined;
}

/** What lists, maps and texts are taken to be at most, whatever their schemas say: for objects at hand. */
export interface Caps {
  readonly list: number;
  readonly text: number;
  /** How many values there are in all, which comparing deeply may visit. */
  readonly nodes: number;
}

export const UNKNOWN: Size = { min: 0, max: 2 ** 64 };
export const ONE: Size = { min: 1, max: 1 };
export function sum(estimates: readonly (Estimate | undefined)[]): number {
  return estimates.reduce((cost, estimate) => cost + (estimate?.cost ?? 0), 0);
}

/** An estimate under way, as those see it who know the parts of one kind of expression. */
export interface Estimation {
  /** Whether it is for an object at hand. */
  readonly capped: boolean;
  /** Of keys of maps. */
  readonly keySize: Size;
  of(node: Node): Estimate;
  /** Of an expression in which names stand for something. */
  with(names: readonly (readonly [string, Estimate])[], node: Node): Estimate;
  elementOf(container: Estimate | undefined): Estimate;
}
