import { isJsonObject } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import { callOf, childrenOf, descendants, MACRO_VARIABLES, type Node, OWN, typeOf } from "../library/node.ts";
import type { Reads } from "../values/json.ts";
import { type Shape, unescapeName } from "../values/shape.ts";

/** Maximum size of a value: elements, entries, characters or bytes; scalars are 1. */
export interface Size {
  readonly min: number;
  readonly max: number;
}

/** Static information about an expression. */
export interface Estimate {
  /** Maximum cost in Kubernetes' units. */
  readonly cost: number;
  /** Size, or undefined if unknown. */
  readonly size: Size | undefined;
  /** Shape, if the value is a part of the object. */
  readonly shape?: Shape | undefined;
  /** For computed lists and maps: size of their values and keys. */
  readonly element?: Estimate | undefined;
}

/** Size limits of lists, maps and strings in a given object, which override those of the schema. */
export interface Caps {
  readonly list: number;
  readonly text: number;
  /** Total number of values, which limits deep comparisons. */
  readonly nodes: number;
}

export const UNKNOWN: Size = { min: 0, max: 2 ** 64 };
export const ONE: Size = { min: 1, max: 1 };
export function sum(estimates: readonly (Estimate | undefined)[]): number {
  return estimates.reduce((cost, estimate) => cost + (estimate?.cost ?? 0), 0);
}

/** Estimate in progress, as seen by the estimators of single kinds of expressions. */
export interface Estimation {
  /** Whether the estimate is for a given object. */
  readonly capped: boolean;
  /** Size of map keys. */
  readonly keySize: Size;
  of(node: Node): Estimate;
  /** Estimates an expression with bound names. */
  with(names: readonly (readonly [string, Estimate])[], node: Node): Estimate;
  elementOf(container: Estimate | undefined): Estimate;
}

/** Counting stops here: more values are too many for in-place evaluation. */
export const MAX_NODES = 20_000;

/** Measures the parts of values that an expression reads. */
export function measure(parts: readonly (readonly [json: unknown, reads: Reads])[]): Caps {
  const caps = { list: 1, text: 1, nodes: 0 };
  const visit = (json: unknown, reads: Reads): void => {
    if (++caps.nodes > MAX_NODES) return;
    if (typeof json === "string") caps.text = Math.max(caps.text, json.length);
    else if (Array.isArray(json)) {
      caps.list = Math.max(caps.list, json.length);
      for (let at = 0; at < json.length && caps.nodes <= MAX_NODES; at++) visit(json[at], "all");
    } else if (isJsonObject(json)) {
      if (reads !== "all") {
        for (const [name, inner] of reads) visit(memberOf(json, unescapeName(name) ?? name), inner);
        return;
      }
      const names = Object.keys(json);
      caps.list = Math.max(caps.list, names.length);
      for (const name of names) {
        if (caps.nodes > MAX_NODES) return;
        caps.text = Math.max(caps.text, name.length);
        visit(json[name], "all");
      }
    }
  };
  for (const [json, reads] of parts) visit(json, reads);
  return caps;
}

/** Functions that split a string into a list. */
const SPLITTING = new Set(["split", "findAll"]);
const COMPARING = new Set(["==", "!=", "in"]);
const PLAIN = new Set(["bool", "double", "int", "null", "string", "uint"]);
/** Characters that a function processes in one step. */
const CHARACTERS = 32;

/**
 * Estimates the steps, of some 100 ns each, that an expression needs for JSON without a schema. The estimate is rough, but
 * distinguishes nested loops from a single pass over a list.
 */
export function workOf(root: Node, { list, text, nodes }: Caps): number {
  const splits = [...descendants(root)].some((node) => SPLITTING.has(nameOf(node)));
  const elements = splits ? Math.max(list, text) : list;
  const visit = (node: Node): number => {
    const call = callOf(node);
    if (call?.target !== undefined && MACRO_VARIABLES.has(`${call.name}/${call.args.length}`)) {
      return visit(call.target) + elements * total(call.args);
    }
    const own = call === undefined ? 1 : 1 + text / CHARACTERS;
    return own + (COMPARING.has(node.op) && isDeep(node) ? nodes : 0) + total(childrenOf(node));
  };
  const total = (parts: readonly Node[]): number => parts.reduce((steps, part) => steps + visit(part), 1);
  return visit(root);
}

function nameOf(node: Node): string {
  return callOf(node)?.name.replace(OWN, "") ?? "";
}

/** Returns whether a comparison may traverse a list or map. */
function isDeep(node: Node): boolean {
  const types = childrenOf(node).map(typeOf);
  return node.op === "in" || !types.some((type) => PLAIN.has(type));
}
