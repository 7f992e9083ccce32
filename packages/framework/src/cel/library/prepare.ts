import { type Environment, type ParseResult, serialize } from "@marcbachmann/cel-js";
import { parseGoDuration, parseRfc3339 } from "../values/formatted.ts";
import type { Reads } from "../values/json.ts";
import { isPattern } from "../values/pattern.ts";
import { ownFunctions } from "./environment.ts";
import { type Problem, problemOf, undeclared } from "./messages.ts";
import {
  callOf,
  childrenOf,
  depthOf,
  descendants,
  HAS,
  JOIN,
  MACRO_VARIABLES,
  MAP,
  type Node,
  OWN,
  placeOf,
  SAME,
  typeOf,
} from "./node.ts";

/** Functions that the library implements as Kubernetes does: `name/arguments`. */
const LIBRARY_FUNCTIONS = new Set(
  (
    "size/1 .size/0 type/1 dyn/1 bytes/1 .startsWith/1 .endsWith/1 .contains/1 .value/0 .hasValue/0 .or/1 .orValue/1 " +
    ".none/0 .of/1"
  ).split(" "),
);

/** Limit of an expression's depth, including chains of operators: traversal must not overflow the stack. */
const MAX_DEPTH = 500;

/** Fields of object types. */
type Fields = ReadonlyMap<string, ReadonlySet<string>>;

/** Expression that the library can run. */
export interface Prepared {
  readonly run: ParseResult;
  readonly root: Node;
  /** Type of its value; `dyn` if the environment has no types. */
  readonly type: string;
}

/** Adapts expressions to the library: calls of functions that it lacks or implements differently are redirected. */
export class Preparer {
  readonly #own: ReadonlySet<string>;

  /** @param options.patches whether expressions may evaluate to patches */
  constructor(options: { readonly patches?: boolean } = {}) {
    this.#own = ownFunctions(options);
  }

  /** Parses and type-checks the expression of a rule, and returns it or its error. */
  prepare(source: string, environment: Environment, fields: Fields): Prepared | Problem {
    return attempt(() => {
      const { ast } = environment.parse(source);
      if (depthOf(ast) > MAX_DEPTH) return { at: 0, message: `expression recursion limit exceeded: ${MAX_DEPTH}` };
      const ours = ownCall(ast);
      if (ours !== undefined) return { at: placeOf(ours), message: undeclared(callOf(ours)?.name ?? "") };
      const run = environment.parse(withOwnHas(source, environment));
      for (const node of descendants(run.ast)) {
        const problem = this.#pointToOwn(node);
        if (problem !== undefined) return problem;
      }
      const prepared = checked(run);
      return "message" in prepared ? prepared : (firstProblem(run.ast, fields) ?? prepared);
    });
  }

  /** Parses the result of {@link dynamicSource}, which is already adapted. */
  prepareOwn(source: string, environment: Environment): Prepared | Problem {
    return attempt(() => checked(environment.parse(source)));
  }

  #pointToOwn(node: Node): Problem | undefined {
    const call = callOf(node);
    if (call === undefined || (node.op !== "call" && node.op !== "rcall")) return undefined;
    const key = `${call.name}/${call.args.length}`;
    if (key === `${HAS}/1` && call.args[0]?.op !== ".") {
      return { at: placeOf(call.args[0] ?? node), message: "invalid argument to has() macro" };
    }
    const isMacro = call.target === undefined ? key === `${HAS}/1` : MACRO_VARIABLES.has(key);
    if (isMacro) return undefined;
    // Namespaced functions are called like methods, but declared as functions.
    if (
      this.#own.has(call.target === undefined ? key : `.${key}`) ||
      (call.target?.op === "id" && this.#own.has(key))
    ) {
      node.args[0] = call.name + OWN;
      return undefined;
    }
    const known = LIBRARY_FUNCTIONS.has(call.target === undefined ? key : `.${key}`) && !isBind(call.target);
    return known ? undefined : { at: placeOf(node), message: undeclared(call.name) };
  }
}

function attempt(prepare: () => Prepared | Problem): Prepared | Problem {
  try {
    return prepare();
  } catch (error) {
    return problemOf(error);
  }
}

function checked(run: ParseResult): Prepared | Problem {
  const { valid, type = "dyn", error } = run.check();
  return valid ? { run, root: run.ast, type } : problemOf(error);
}

/** Returns a call of an internal function, which expressions must not contain. */
function ownCall(root: Node): Node | undefined {
  for (const node of descendants(root)) {
    const name = callOf(node)?.name;
    if (name === HAS || name?.endsWith(OWN)) return node;
  }
  return undefined;
}

/** Returns the first error that the library's checker misses. */
function firstProblem(root: Node, fields: Fields): Problem | undefined {
  for (const node of descendants(root)) {
    const problem = optionalFieldProblem(node, fields) ?? indexProblem(node, fields) ?? literalProblem(node);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** An optional selection requires a declared field too. */
function optionalFieldProblem(node: Node, fields: Fields): Problem | undefined {
  if (node.op !== ".?" && node.op !== ".") return undefined;
  const [operand, name] = node.args;
  const known = fields.get(typeOf(operand).replace(/^optional<(.*)>$/, "$1"));
  return known === undefined || known.has(name)
    ? undefined
    : { at: placeOf(node), message: `undefined field '${name}'` };
}

/** Objects have fields, not keys. */
function indexProblem(node: Node, fields: Fields): Problem | undefined {
  if (node.op !== "[]" || !fields.has(typeOf(node.args[0]))) return undefined;
  const message = `found no matching overload for '_[_]' applied to '(object, ${typeOf(node.args[1])})'`;
  return { at: placeOf(node), message };
}

/** Checks literals for invalid patterns, times and durations. */
function literalProblem(node: Node): Problem | undefined {
  const call = callOf(node);
  const name = call?.name.replace(OWN, "") ?? "";
  const arg = call?.args.at(-1);
  const valid = LITERALS[name];
  if (valid === undefined || arg?.op !== "value" || typeof arg.args !== "string" || valid(arg.args)) return undefined;
  return { at: arg.start, message: `invalid ${name} argument` };
}

const LITERALS: Readonly<Record<string, (text: string) => boolean>> = {
  matches: isPattern,
  timestamp: (text) => parseRfc3339(text) !== undefined,
  duration: (text) => parseGoDuration(text) !== undefined,
};

/** The library's own namespace, which Kubernetes lacks. */
function isBind(target: Node | undefined): boolean {
  return target?.op === "id" && target.args === "cel";
}

/** Replaces `has` by its internal name, which has the same length. */
function withOwnHas(source: string, environment: Environment): string {
  let text = source;
  for (const node of descendants(environment.parse(source).ast)) {
    const isHas = node.op === "call" && node.args[0] === "has";
    if (isHas) text = text.slice(0, node.start) + HAS + text.slice(node.start + HAS.length);
  }
  return text;
}

/** Returns whether an expression uses a variable; variables of its macros do not count. */
export function usesVariable(root: Node, name: string): boolean {
  for (const node of descendants(root)) if (node.op === "id" && node.args === name) return true;
  return false;
}

/** Returns the parts of a variable that an expression reads. */
export function readsOf(root: Node, name: string): Reads {
  const reads = new Map<string, Reads>();
  return collect(root, name, reads) ? reads : "all";
}

interface MutableReads extends Map<string, Reads> {}

/** Returns false if the expression uses the variable as a whole. */
function collect(node: Node, name: string, reads: MutableReads): boolean {
  const path = pathFrom(node, name);
  if (path !== undefined) return path.length > 0 && note(reads, path);
  for (const child of childrenOf(node)) if (!collect(child, name, reads)) return false;
  return true;
}

/** Returns `["spec", "replicas"]` for `self.spec.replicas`. */
function pathFrom(node: Node, name: string): string[] | undefined {
  if (node.op === "id") return node.args === name ? [] : undefined;
  if (node.op !== "." && node.op !== ".?") return undefined;
  const prefix = pathFrom(node.args[0], name);
  return prefix === undefined ? undefined : [...prefix, node.args[1]];
}

function note(reads: MutableReads, path: readonly string[]): true {
  let at = reads;
  for (const [depth, name] of path.entries()) {
    const known = at.get(name);
    if (known === "all") return true;
    if (depth === path.length - 1) at.set(name, "all");
    else if (known instanceof Map) at = known;
    else {
      const inner: MutableReads = new Map();
      at.set(name, inner);
      at = inner;
    }
  }
  return true;
}

const PLAIN = new Set(["bool", "bytes", "double", "int", "null", "string", "uint"]);
/** Methods that return the content of their receiver, whose type is unknown at evaluation. */
const GENERIC = new Set(["orValue", "value"]);

/**
 * Returns the source for evaluation without types. Equality and `+` of possible lists of type set or map become internal
 * calls. Results of generic functions are dynamic, doubles are exact, and characters beyond 16 bits stay whole.
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

/** The library prints doubles with nine digits. */
function exactDouble(value: number): Part {
  return call(`double${OWN}`, [{ op: "value", args: String(value) }]);
}
