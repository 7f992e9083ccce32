import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { fieldInvalid, type StatusCause } from "@virtual-workspaces/apimachinery";
import type { Expression, ExpressionCompiler } from "../../cel/expression.ts";
import { siblingModule } from "../../util/worker/module.ts";

const TEXT = { type: "string" } as const;
const TEXTS = { type: "array", items: TEXT } as const;
/** What rules about users see: Kubernetes' `user`. */
const USER = {
  username: TEXT,
  uid: TEXT,
  groups: TEXTS,
  extra: { type: "object", additionalProperties: TEXTS },
} as const;

interface Compilers {
  readonly claims: ExpressionCompiler;
  readonly user: ExpressionCompiler;
}

/** Compiles the expressions of a configuration, with the library for it, which is loaded with the first one that there is. */
class LazyCompilers {
  #compilers: Compilers | undefined;

  get of(): Compilers {
    if (this.#compilers === undefined) {
      const file = fileURLToPath(siblingModule("../../cel/expression", import.meta.url));
      const module = createRequire(import.meta.url)(file) as typeof import("../../cel/expression.ts");
      this.#compilers = {
        claims: new module.ExpressionCompiler("claims", module.ANY_OBJECT),
        user: new module.ExpressionCompiler("user", module.objectShape(USER)),
      };
    }
    return this.#compilers;
  }
}

const compilers = new LazyCompilers();

export interface ExpressionPlace {
  readonly field: string;
  readonly sees: keyof Compilers;
  readonly wanted?: "bool";
}

/** An expression of a field; what is wrong with it is added to `causes`. */
export function compileField(
  source: string,
  { field, sees, wanted }: ExpressionPlace,
  causes: StatusCause[],
): Expression | undefined {
  const compiled = compilers.of[sees].compile(source, wanted);
  if ("expression" in compiled) return compiled.expression;
  causes.push(fieldInvalid(field, source, compiled.problem));
  return undefined;
}

/** Whether an expression could not be evaluated, which copies of this package tell by name. */
export function isExpressionError(error: unknown): error is Error {
  return error instanceof Error && error.name === "ExpressionError";
}
