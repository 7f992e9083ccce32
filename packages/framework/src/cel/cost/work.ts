import { OWN } from "../library/names.ts";
import { callOf, childrenOf, descendants, MACRO_VARIABLES, type Node, typeOf } from "../library/node.ts";
import type { Caps } from "./size.ts";

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
      return visit(call.target) + elements * sum(call.args);
    }
    const own = call === undefined ? 1 : 1 + text / CHARACTERS;
    return own + (COMPARING.has(node.op) && isDeep(node) ? nodes : 0) + sum(childrenOf(node));
  };
  const sum = (parts: readonly Node[]): number => parts.reduce((steps, part) => steps + visit(part), 1);
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
