import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { siblingModule } from "../util/worker/pool.ts";
import type { ComposedExpressions } from "./composed.ts";
import type { CompiledExpression, CompilerOptions, ExpressionCompiler, WantedType } from "./expression.ts";
import type { Shape } from "./values/shape.ts";

/** Type of a variable: any value, a map from strings to any values, or an object with the fields of these schemas. */
export type VariableType = "any" | "map" | Readonly<Record<string, JsonSchema>>;

/** Compiles expressions over some variables. Loads the CEL library with the first expression. */
export class LazyExpressions {
  readonly #variables: Readonly<Record<string, VariableType>>;
  readonly #options: CompilerOptions;
  #compiler: ExpressionCompiler | undefined;

  constructor(variables: Readonly<Record<string, VariableType>>, options: CompilerOptions = {}) {
    this.#variables = variables;
    this.#options = options;
  }

  /** Compiles an expression. @param wanted types, one of which its value must have. @default any */
  compile(source: string, wanted?: WantedType | readonly WantedType[]): CompiledExpression {
    this.#compiler ??= this.#load();
    return this.#compiler.compile(source, wanted);
  }

  /** Returns a compiler whose expressions may also use variables that are expressions themselves. */
  compose(): ComposedExpressions {
    this.#compiler ??= this.#load();
    const { ComposedExpressions } = loaded<typeof import("./composed.ts")>("composed");
    return new ComposedExpressions(this.#compiler);
  }

  #load(): ExpressionCompiler {
    const cel = loaded<typeof import("./expression.ts")>("expression");
    const shapeOf = (type: VariableType): Shape => {
      if (type === "any") return cel.ANY;
      return type === "map" ? cel.ANY_OBJECT : cel.objectShape(type);
    };
    const shapes = Object.entries(this.#variables).map(([name, type]) => [name, shapeOf(type)] as const);
    return new cel.ExpressionCompiler(Object.fromEntries(shapes), this.#options);
  }
}

function loaded<M>(module: string): M {
  return createRequire(import.meta.url)(fileURLToPath(siblingModule(module, import.meta.url))) as M;
}
