import { isJsonObject } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import { callOf, childrenOf, descendants, MACRO_VARIABLES, type Node, OWN, typeOf } from "../library/node.ts";
import type { Reads } from "../values/json.ts";
import { type Shape, unescapeName } from "../values/shape.ts";

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

/** More values than that are not counted: they are too many to be looked at in place. */
export const MAX_NODES = 20_000;

/** How large the parts of values are that an expression reads. */
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

/** Make a list of a text. */
const SPLITTING = new Set(["split", "findAll"]);
const COMPARING = new Set(["==", "!=", "in"]);
const PLAIN = new Set(["bool", "double", "int", "null", "string", "uint"]);
/** Characters that a function looks at in the time that a step takes. */
const CHARACTERS = 32;

/**
 * Roughly how many steps of some 100 ns an expression takes over JSON of which no schema is known: what matters is that
 * loops within loops are told from what passes over a list once.
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

/** Whether a comparison may look into a list or map. */
function isDeep(node: Node): boolean {
  const types = childrenOf(node).map(typeOf);
  return node.op === "in" || !types.some((type) => PLAIN.has(type));
}
