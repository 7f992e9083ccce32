import type { ASTNode } from "@marcbachmann/cel-js";

/** A node of the library's tree, after its macros were expanded: calls of macros look like any call. */
export type Node = ASTNode;

/** A call of a function or method. */
export interface Call {
  readonly name: string;
  readonly target: Node | undefined;
  readonly args: readonly Node[];
}

/** The call that a node is, if it is one. */
export function callOf(node: Node): Call | undefined {
  if (node.op === "call") return { name: node.args[0], target: undefined, args: node.args[1] };
  if (node.op === "rcall") return { name: node.args[0], target: node.args[1], args: node.args[2] };
  return undefined;
}

/** The nodes right below one. */
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

/** A node and all below it, parents first. */
export function* descendants(root: Node): Generator<Node> {
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node;
    waiting.push(...childrenOf(node).toReversed());
  }
}

/** How many nodes lie above each other at most. */
export function depthOf(root: Node): number {
  let depth = 0;
  for (let level: readonly Node[] = [root]; level.length > 0; depth++) level = level.flatMap(childrenOf);
  return depth;
}

/** What the checker found out about a node: `int`, `list<string>`, `dyn` if nothing. */
export function typeOf(node: Node): string {
  const { checkedType } = node as { readonly checkedType?: { readonly name: string } };
  return checkedType?.name ?? "dyn";
}

/** A copy of a node that keeps nothing of the library's but what is asked for here: the library's holds its environment. */
export function detached(node: Node): Node {
  const copy = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(copy);
    const isNode = typeof part === "object" && part !== null && "op" in part;
    return isNode ? detached(part as Node) : part;
  };
  return { op: node.op, args: copy(node.args), checkedType: { name: typeOf(node) } } as unknown as Node;
}

/** Where cel-go says that a node is: at its operator, dot or bracket. UTF-16 index. */
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

/** `a.b.c` if a node is nothing but such a chain of names. */
export function qualifiedName(node: Node): string | undefined {
  if (node.op === "id") return node.args;
  if (node.op !== ".") return undefined;
  const prefix = qualifiedName(node.args[0]);
  return prefix === undefined ? undefined : `${prefix}.${node.args[1]}`;
}

/** Macros by `name/arguments`, and how many of their first arguments name variables. */
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

/** Calls of these are ours, since the library's own cannot be replaced: they are registered under a name with this end. */
export const OWN = "_k8s";

/** What `has` is called before the library sees it: its own takes fewer expressions than Kubernetes'. As long as `has`. */
export const HAS = "hAs";

/** What operators become where the library would compare or join lists otherwise than Kubernetes. */
export const SAME: string = `same${OWN}`;
export const JOIN: string = `concat${OWN}`;

/** What map literals become: the library makes objects of them, whose keys are texts. */
export const MAP: string = `map${OWN}`;
