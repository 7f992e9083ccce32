import { type Environment, Optional } from "@marcbachmann/cel-js";
import { CelError } from "../cel-error.ts";
import { sortedBy } from "../functions/lists.ts";
import { HAS } from "./names.ts";
import { type Node, qualifiedName } from "./node.ts";

interface Type {
  readonly kind: string;
  readonly keyType?: Type;
  readonly valueType?: Type;
}

/** Names in scope, as the library keeps them. */
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

/** A macro for the library: how it is checked, and what it does. */
interface Macro {
  readonly async: false;
  typeCheck(checker: Checker, macro: Macro, scope: Scope): Type;
  evaluate(evaluator: Evaluator, macro: Macro, scope: Scope): unknown;
}

/** Evaluates the body of a macro for one entry of its range. */
type Body = (key: unknown, value: unknown, at: number) => unknown;

/** Macros that the library lacks. */
export function registerMacros(environment: Environment): void {
  const register = (signature: string, expand: (expansion: Expansion) => Macro): void => {
    environment.registerFunction(signature, expand as never, { async: false });
  };
  register(`${HAS}(ast): bool`, ({ args }) => hasMacro(args[0]));
  register("list.all(ast, ast, ast): bool", (call) =>
    loop(call, { names: 2, bodies: [2], result: "bool", run: every }),
  );
  register("list.exists(ast, ast, ast): bool", (call) =>
    loop(call, { names: 2, bodies: [2], result: "bool", run: some }),
  );
  for (const name of ["exists_one", "existsOne"]) {
    register(`list.${name}(ast, ast, ast): bool`, (call) =>
      loop(call, { names: 2, bodies: [2], result: "bool", run: one }),
    );
  }
  register("list.transformList(ast, ast, ast): list", (call) =>
    loop(call, { names: 2, bodies: [2], result: "list", run: transformList }),
  );
  register("list.transformList(ast, ast, ast, ast): list", (call) =>
    loop(call, { names: 2, bodies: [2, 3], result: "list", run: transformList }),
  );
  register("list.transformMap(ast, ast, ast): map", (call) =>
    loop(call, { names: 2, bodies: [2], result: "map", run: transformMap }),
  );
  register("list.transformMap(ast, ast, ast, ast): map", (call) =>
    loop(call, { names: 2, bodies: [2, 3], result: "map", run: transformMap }),
  );
  register("list.transformMapEntry(ast, ast, ast): map", (call) =>
    loop(call, { names: 2, bodies: [2], result: "map", run: transformEntries }),
  );
  register("list.transformMapEntry(ast, ast, ast, ast): map", (call) =>
    loop(call, { names: 2, bodies: [2, 3], result: "map", run: transformEntries }),
  );
  register("list.sortBy(ast, ast): list", (call) => loop(call, { names: 1, bodies: [1], result: "same", run: sortBy }));
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

interface Loop {
  /** How many of the first arguments are names: an element's, or those of its index and itself. */
  readonly names: 1 | 2;
  /** Which arguments are evaluated for each element; of two the first is a filter. */
  readonly bodies: readonly [number] | readonly [number, number];
  /** What type it has; `same` is that of the range. */
  readonly result: "bool" | "list" | "map" | "same";
  readonly run: (entries: readonly (readonly [unknown, unknown])[], body: Body, filter: Body | undefined) => unknown;
}

function loop({ args, receiver }: Expansion, { names, bodies, result, run }: Loop): Macro {
  const variables = args.slice(0, names).map(variableName);
  const [first, second] = bodies.map((at) => args[at]);
  const [filter, body] = second === undefined ? [undefined, first] : [first, second];
  return {
    async: false,
    typeCheck(checker, _, scope) {
      const range = checker.check(receiver, scope);
      const inner = declare(scope, variables, variableTypes(range, names, checker));
      if (filter !== undefined) checker.check(filter, inner);
      if (body !== undefined) checker.check(body, inner);
      return result === "same" ? range : checker.getType(result);
    },
    evaluate(evaluator, _, scope) {
      const dyn = evaluator.getType("dyn");
      const bodyOf =
        (node: Node): Body =>
        (key, value) =>
          evaluator.run(node, bind({ scope, variables, dyn, evaluator }, names === 2 ? [key, value] : [value]));
      if (body === undefined) throw new CelError("no such overload");
      return run(entriesOf(evaluator.run(receiver, scope)), bodyOf(body), filter && bodyOf(filter));
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

function entriesOf(range: unknown): readonly (readonly [unknown, unknown])[] {
  if (Array.isArray(range)) return range.map((value, at) => [BigInt(at), value]);
  if (range instanceof Set) return [...range].map((value, at) => [BigInt(at), value]);
  if (range instanceof Map) return [...range];
  if (typeof range === "object" && range !== null) return entriesOfObject(range);
  throw new CelError("no such overload");
}

function every(entries: readonly (readonly [unknown, unknown])[], body: Body): boolean {
  return decided(entries, body, false);
}

function some(entries: readonly (readonly [unknown, unknown])[], body: Body): boolean {
  return decided(entries, body, true);
}

/** Whether any element decides; an error counts only if none does. */
function decided(entries: readonly (readonly [unknown, unknown])[], body: Body, decisive: boolean): boolean {
  let failure: unknown;
  for (const [at, [key, value]] of entries.entries()) {
    try {
      if (body(key, value, at) === decisive) return decisive;
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return !decisive;
}

function one(entries: readonly (readonly [unknown, unknown])[], body: Body): boolean {
  return entries.filter(([key, value], at) => body(key, value, at) === true).length === 1;
}

function transformList(entries: readonly (readonly [unknown, unknown])[], body: Body, filter?: Body): unknown[] {
  return kept(entries, filter).map(([key, value], at) => body(key, value, at));
}

function transformMap(
  entries: readonly (readonly [unknown, unknown])[],
  body: Body,
  filter?: Body,
): Map<unknown, unknown> {
  return new Map(kept(entries, filter).map(([key, value], at) => [key, body(key, value, at)]));
}

function transformEntries(
  entries: readonly (readonly [unknown, unknown])[],
  body: Body,
  filter?: Body,
): Map<unknown, unknown> {
  const result = new Map<unknown, unknown>();
  for (const [at, [key, value]] of kept(entries, filter).entries()) {
    const entry = body(key, value, at);
    for (const [name, member] of entry instanceof Map ? entry : entriesOfObject(entry)) {
      if (result.has(name)) throw new CelError(`insert failed: key ${String(name)} already exists`);
      result.set(name, member);
    }
  }
  return result;
}

/** Maps that expressions spell are objects to the library. */
function entriesOfObject(value: unknown): [string, unknown][] {
  if (typeof value !== "object" || value === null) throw new CelError("no such overload");
  return Object.entries(value);
}

function kept(
  entries: readonly (readonly [unknown, unknown])[],
  filter: Body | undefined,
): readonly (readonly [unknown, unknown])[] {
  return filter === undefined ? entries : entries.filter(([key, value], at) => filter(key, value, at) === true);
}

function sortBy(entries: readonly (readonly [unknown, unknown])[], body: Body): unknown[] {
  const keys = entries.map(([key, value], at) => body(key, value, at));
  return sortedBy(
    entries.map(([, value]) => value),
    keys,
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
