import { serialize } from "@marcbachmann/cel-js";
import { JOIN, MAP, OWN, SAME } from "./names.ts";
import { callOf, MACRO_VARIABLES, type Node, typeOf } from "./node.ts";

const PLAIN = new Set(["bool", "bytes", "double", "int", "null", "string", "uint"]);
/** Give what they are called on holds, of which nothing is known as it runs. */
const GENERIC = new Set(["orValue", "value"]);

/**
 * A checked expression as it runs where nothing is known of types: equality and `+` of what may be a list of type set or
 * map are calls of ours, results of generic functions are dynamic, doubles are exact, and characters beyond 16 bits whole.
 */
export function dynamicSource(root: Node): string {
  const text = serialize(transformed(root) as Node);
  return text.replace(/\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})/gi, (_, high: string, low: string) =>
    String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)),
  );
}

interface Part {
  readonly op: string;
  readonly args: unknown;
}

function transformed(node: Node): Part {
  const { op } = node;
  if (op === "value") return typeof node.args === "number" ? exactDouble(node.args) : node;
  const rewritten: Part = { op, args: transformedArgs(node.args) };
  if (op === "map") return call("dyn", [call(MAP, [{ op: "list", args: node.args.flat().map(transformed) }])]);
  if (op === "==" || op === "!=") {
    if (node.args.some((arg) => PLAIN.has(typeOf(arg)))) return rewritten;
    const same = call(SAME, rewritten.args);
    return op === "==" ? same : { op: "!_", args: same };
  }
  if (op === "+")
    return node.args.some((arg) => typeOf(arg).startsWith("list")) ? call(JOIN, rewritten.args) : rewritten;
  const called = callOf(node);
  if (called === undefined || MACRO_VARIABLES.has(`${called.name}/${called.args.length}`)) return rewritten;
  if (PLAIN.has(typeOf(node)) && !GENERIC.has(called.name)) return rewritten;
  return call("dyn", [rewritten]);
}

function transformedArgs(args: unknown): unknown {
  if (Array.isArray(args)) return args.map(transformedArgs);
  return isNode(args) ? transformed(args) : args;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "op" in value;
}

function call(name: string, args: unknown): Part {
  return { op: "call", args: [name, args] };
}

/** The library writes doubles with nine digits. */
function exactDouble(value: number): Part {
  return call(`double${OWN}`, [{ op: "value", args: String(value) }]);
}
