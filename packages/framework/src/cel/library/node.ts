import type { ASTNode } from "@marcbachmann/cel-js";

/** Node of the library's tree after macro expansion: macro calls look like other calls. */
export type Node = ASTNode;

/** Call of a function or method. */
export interface Call {
  readonly name: string;
  readonly target: Node | undefined;
  readonly args: readonly Node[];
}

/** Returns the call that a node represents, if it is one. */
export function callOf(node: Node): Call | undefined {
  if (node.op === "call") return { name: node.args[0], target: undefined, args: node.args[1] };
  if (node.op === "rcall") return { name: node.args[0], target: node.args[1], args: node.args[2] };
  return undefined;
}

/** Returns the direct children of a node. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.op) {
    case "value":
    case "id":
      return [];
    case ".":
    case ".?":
      return [node.args[0]];
    case "call":
      return node.args[1];
    case "rcall":
      return [node.args[1], ...node.args[2]];
    case "list":
    case "?:":
      return node.args;
    case "map":
      return node.args.flat();
    case "!_":
    case "-_":
      return [node.args];
    default:
      return node.args;
  }
}

/** Yields a node and all its descendants, parents first. */
export function* descendants(root: Node): Generator<Node> {
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node;
    waiting.push(...childrenOf(node).toReversed());
  }
}

/** Returns the depth of a tree. */
export function depthOf(root: Node): number {
  let depth = 0;
  for (let level: readonly Node[] = [root]; level.length > 0; depth++) level = level.flatMap(childrenOf);
  return depth;
}

/** Returns the checked type of a node: `int`, `list<string>`, `dyn` if unknown. */
export function typeOf(node: Node): string {
  const { checkedType } = node as { readonly checkedType?: { readonly name: string } };
  return checkedType?.name ?? "dyn";
}

/** Copies a node with only the fields that are needed: the library's node references its environment. */
export function detached(node: Node): Node {
  const copy = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(copy);
    const isNode = typeof part === "object" && part !== null && "op" in part;
    return isNode ? detached(part as Node) : part;
  };
  return { op: node.op, args: copy(node.args), checkedType: { name: typeOf(node) } } as unknown as Node;
}

/** Returns the position that cel-go reports for a node: its operator, dot or bracket. UTF-16 index. */
export function placeOf(node: Node): number {
  const after = (before: Node, sign: string): number => Math.max(node.start, node.input.indexOf(sign, before.end));
  switch (node.op) {
    case "value":
    case "id":
    case "list":
    case "map":
    case "!_":
    case "-_":
      return node.start;
    case ".":
    case ".?": {
      const tested = /hAs\s*\(\s*$/.exec(node.input.slice(0, node.start));
      return tested === null ? after(node.args[0], ".") : node.input.indexOf("(", tested.index);
    }
    case "[]":
    case "[?]":
      return after(node.args[0], "[");
    case "call":
      return node.input.indexOf("(", node.start);
    case "rcall":
      return node.input.indexOf("(", node.input.indexOf(".", node.args[1].end));
    case "?:":
      return after(node.args[0], "?");
    default:
      return after(node.args[0], node.op);
  }
}

/** Returns `a.b.c` if a node is only such a chain of names. */
export function qualifiedName(node: Node): string | undefined {
  if (node.op === "id") return node.args;
  if (node.op !== ".") return undefined;
  const prefix = qualifiedName(node.args[0]);
  return prefix === undefined ? undefined : `${prefix}.${node.args[1]}`;
}

/** Macros by `name/arguments`, with the number of leading arguments that name variables. */
export const MACRO_VARIABLES: ReadonlyMap<string, 1 | 2> = new Map([
  ["all/2", 1],
  ["exists/2", 1],
  ["exists_one/2", 1],
  ["filter/2", 1],
  ["map/2", 1],
  ["map/3", 1],
  ["optMap/2", 1],
  ["optFlatMap/2", 1],
  ["sortBy/2", 1],
  ["all/3", 2],
  ["exists/3", 2],
  ["exists_one/3", 2],
  ["existsOne/3", 2],
  ["transformList/3", 2],
  ["transformList/4", 2],
  ["transformMap/3", 2],
  ["transformMap/4", 2],
  ["transformMapEntry/3", 2],
  ["transformMapEntry/4", 2],
]);

/** Suffix of functions that replace the library's own, which cannot be overridden. */
export const OWN = "_k8s";

/** Replacement for `has` in the source, of the same length: the library's own accepts fewer expressions. */
export const HAS = "hAs";

/** Replacements for operators, where the library compares or joins lists differently than Kubernetes. */
export const SAME: string = `same${OWN}`;
export const JOIN: string = `concat${OWN}`;

/** Replacement for map literals: the library represents them as objects, whose keys are strings. */
export const MAP: string = `map${OWN}`;
