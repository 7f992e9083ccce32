import { type Environment, Optional } from "@marcbachmann/cel-js";
import { CelError } from "../cel-error.ts";
import { type Body, entriesOf, LOOPS, type Loop } from "./loops.ts";
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

/** Macros that the library lacks. */
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
