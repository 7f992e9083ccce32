import { type Environment, Optional } from "@marcbachmann/cel-js";
import { sortedBy } from "../functions/lists.ts";
import { CelError } from "../values/formatted.ts";
import { HAS, type Node, qualifiedName } from "./node.ts";

interface Type {
  readonly kind: string;
  readonly keyType?: Type;
  readonly valueType?: Type;
}

/** Names in scope, in the library's form. */
interface Scope {
  forkWithVariable(name: string, type: Type): Scope;
  setIterValue(value: unknown, evaluator: Evaluator): Scope;
}

interface Checker {
  check(node: Node, scope: Scope): Type;
  getType(name: string): Type;
  createError(code: string, message: string, node: Node): Error;
}

interface Evaluator {
  run(node: Node, scope: Scope): unknown;
  getType(name: string): Type;
}

interface Expansion {
  readonly args: readonly Node[];
  readonly receiver: Node;
}

/** Macro for the library: its type check and its implementation. */
interface Macro {
  readonly async: false;
  typeCheck(checker: Checker, macro: Macro, scope: Scope): Type;
  evaluate(evaluator: Evaluator, macro: Macro, scope: Scope): unknown;
}

/** Registers the macros that the library lacks. */
export function registerMacros(environment: Environment): void {
  const register = (signature: string, expand: (expansion: Expansion) => Macro): void => {
    environment.registerFunction(signature, expand as never, { async: false });
  };
  register(`${HAS}(ast): bool`, ({ args }) => hasMacro(args[0]));
  for (const macro of LOOPS) {
    const args = Array<string>(macro.names + macro.bodies).fill("ast");
    const result = macro.result === "same" ? "list" : macro.result;
    register(`list.${macro.name}(${args.join(", ")}): ${result}`, (call) => loop(call, macro));
  }
  register("optional.optMap(ast, ast): optional", (call) => optionalMacro(call, true));
  register("optional.optFlatMap(ast, ast): optional", (call) => optionalMacro(call, false));
}

/** `has(a.b)`, where `a` may be any expression. */
function hasMacro(arg: Node | undefined): Macro {
  return {
    async: false,
    typeCheck(checker, _, scope) {
      if (arg?.op !== ".") throw new CelError("invalid argument to has() macro");
      checker.check(arg, scope);
      return checker.getType("bool");
    },
    evaluate(evaluator, _, scope) {
      if (arg?.op !== ".") throw new CelError("invalid argument to has() macro");
      const operand = evaluator.run(arg.args[0], scope);
      const target = operand instanceof Optional ? operand.orValue(new Map()) : operand;
      if (!(target instanceof Map)) throw new CelError("no such overload");
      return target.get(arg.args[1]) !== undefined;
    },
  };
}

function loop({ args, receiver }: Expansion, { names, result, run }: Loop): Macro {
  const variables = args.slice(0, names).map(variableName);
  const bodies = args.slice(names);
  return {
    async: false,
    typeCheck(checker, _, scope) {
      const range = checker.check(receiver, scope);
      const inner = declare(scope, variables, variableTypes(range, names, checker));
      for (const body of bodies) checker.check(body, inner);
      return result === "same" ? range : checker.getType(result);
    },
    evaluate(evaluator, _, scope) {
      const dyn = evaluator.getType("dyn");
      const [body, filter] = bodies.toReversed().map(
        (node): Body =>
          (key, value) =>
            evaluator.run(node, bind({ scope, variables, dyn, evaluator }, names === 2 ? [key, value] : [value])),
      );
      if (body === undefined) throw new CelError("no such overload");
      return run(entriesOf(evaluator.run(receiver, scope)), body, filter);
    },
  };
}

function variableName(node: Node): string {
  const name = qualifiedName(node);
  if (node.op !== "id" || name === undefined) throw new CelError("argument must be a simple name");
  return name;
}

function variableTypes(range: Type, names: 1 | 2, checker: Checker): readonly Type[] {
  const dyn = checker.getType("dyn");
  const element = range.valueType ?? dyn;
  if (range.kind === "list") return names === 2 ? [checker.getType("int"), element] : [element];
  if (range.kind === "map") return names === 2 ? [range.keyType ?? dyn, element] : [range.keyType ?? dyn];
  return [dyn, dyn];
}

function declare(scope: Scope, names: readonly string[], types: readonly Type[]): Scope {
  return names.reduce(
    (inner, name, at) => inner.forkWithVariable(name, types[at] ?? types[0] ?? { kind: "dyn" }),
    scope,
  );
}

function bind(
  place: { scope: Scope; variables: readonly string[]; dyn: Type; evaluator: Evaluator },
  values: readonly unknown[],
): Scope {
  const { scope, variables, dyn, evaluator } = place;
  return variables.reduce(
    (inner, name, at) => inner.forkWithVariable(name, dyn).setIterValue(values[at], evaluator),
    scope,
  );
}

function optionalMacro({ args, receiver }: Expansion, wrap: boolean): Macro {
  const [variable, body] = args;
  const name = variable === undefined ? "" : variableName(variable);
  return {
    async: false,
    typeCheck(checker, _, scope) {
      const target = checker.check(receiver, scope);
      const value = target.kind === "optional" ? target.valueType : undefined;
      const inner = declare(scope, [name], [value ?? checker.getType("dyn")]);
      const type = body === undefined ? checker.getType("dyn") : checker.check(body, inner);
      return wrap ? checker.getType(`optional<${String(type)}>`) : type;
    },
    evaluate(evaluator, _, scope) {
      const optional = evaluator.run(receiver, scope);
      if (!(optional instanceof Optional) || body === undefined) throw new CelError("no such overload");
      if (!optional.hasValue()) return optional;
      const dyn = evaluator.getType("dyn");
      const result = evaluator.run(body, bind({ scope, variables: [name], dyn, evaluator }, [optional.value()]));
      return wrap ? Optional.of(result) : result;
    },
  };
}

/** Entries that a macro iterates over: indexes or keys with their elements or values. */
type Entries = readonly (readonly [unknown, unknown])[];

/** Evaluates an argument of a macro for one entry. */
type Body = (key: unknown, value: unknown) => unknown;

/** Macro that iterates over a list or map. */
interface Loop {
  readonly name: string;
  /** Number of variable arguments: the element, or its index and the element. */
  readonly names: 1 | 2;
  /** Number of further arguments, which are evaluated for each entry; the first of two is a filter. */
  readonly bodies: 1 | 2;
  /** Result type; `same` is that of the range. */
  readonly result: "bool" | "list" | "map" | "same";
  readonly run: (entries: Entries, body: Body, filter: Body | undefined) => unknown;
}

/** Iterating macros that the library lacks. */
const LOOPS: readonly Loop[] = [
  { name: "all", names: 2, bodies: 1, result: "bool", run: (entries, body) => decided(entries, body, false) },
  { name: "exists", names: 2, bodies: 1, result: "bool", run: (entries, body) => decided(entries, body, true) },
  { name: "exists_one", names: 2, bodies: 1, result: "bool", run: one },
  { name: "existsOne", names: 2, bodies: 1, result: "bool", run: one },
  { name: "transformList", names: 2, bodies: 1, result: "list", run: transformList },
  { name: "transformList", names: 2, bodies: 2, result: "list", run: transformList },
  { name: "transformMap", names: 2, bodies: 1, result: "map", run: transformMap },
  { name: "transformMap", names: 2, bodies: 2, result: "map", run: transformMap },
  { name: "transformMapEntry", names: 2, bodies: 1, result: "map", run: transformEntries },
  { name: "transformMapEntry", names: 2, bodies: 2, result: "map", run: transformEntries },
  { name: "sortBy", names: 1, bodies: 1, result: "same", run: sortBy },
];

/** Returns the entries of a list or map. @throws CelError for anything else */
function entriesOf(range: unknown): Entries {
  if (Array.isArray(range) || range instanceof Set) return Array.from(range, (value, at) => [BigInt(at), value]);
  return range instanceof Map ? [...range] : entriesOfObject(range);
}

/** The library represents map literals as objects. */
function entriesOfObject(value: unknown): [string, unknown][] {
  if (typeof value !== "object" || value === null) throw new CelError("no such overload");
  return Object.entries(value);
}

/** Returns whether any entry decides; an error counts only if none does. */
function decided(entries: Entries, body: Body, decisive: boolean): boolean {
  let failure: unknown;
  for (const [key, value] of entries) {
    try {
      if (body(key, value) === decisive) return decisive;
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return !decisive;
}

function one(entries: Entries, body: Body): boolean {
  return kept(entries, body).length === 1;
}

function transformList(entries: Entries, body: Body, filter: Body | undefined): unknown[] {
  return kept(entries, filter).map(([key, value]) => body(key, value));
}

function transformMap(entries: Entries, body: Body, filter: Body | undefined): Map<unknown, unknown> {
  return new Map(kept(entries, filter).map(([key, value]) => [key, body(key, value)]));
}

function transformEntries(entries: Entries, body: Body, filter: Body | undefined): Map<unknown, unknown> {
  const result = new Map<unknown, unknown>();
  for (const [key, value] of kept(entries, filter)) {
    const entry = body(key, value);
    for (const [name, member] of entry instanceof Map ? entry : entriesOfObject(entry)) {
      if (result.has(name)) throw new CelError(`insert failed: key ${String(name)} already exists`);
      result.set(name, member);
    }
  }
  return result;
}

function sortBy(entries: Entries, body: Body): unknown[] {
  const keys = entries.map(([key, value]) => body(key, value));
  return sortedBy(
    entries.map(([, value]) => value),
    keys,
  );
}

function kept(entries: Entries, filter: Body | undefined): Entries {
  return filter === undefined ? entries : entries.filter(([key, value]) => filter(key, value) === true);
}
