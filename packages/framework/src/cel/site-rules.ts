import type { Environment } from "@marcbachmann/cel-js";
import type { JsonSchema, ValidationRule } from "@virtual-workspaces/apimachinery";
import { CompiledRule } from "./compiled-rule.ts";
import { declareShape } from "./library/declare.ts";
import { createEnvironment } from "./library/environment.ts";
import { Preparer } from "./library/prepare.ts";
import type { RuleEnvironment } from "./program.ts";
import { type Shape, shapeOf } from "./types/shape.ts";

/** One place of a schema that has rules. */
export interface RulePlace {
  readonly schema: JsonSchema;
  readonly rules: readonly ValidationRule[];
  readonly resourceRoot: boolean;
}

type Typed = Pick<RuleEnvironment, "typed" | "fields">;

const FORMATS = /\.\s*format\s*\(/;

/** Compiles rules; all of them share one environment to run in. */
export class RuleCompiler {
  readonly #base: Environment = createEnvironment();
  readonly #dynamic: Environment = this.#base
    .clone()
    .registerVariable("self", "dyn")
    .registerVariable("oldSelf", "dyn");
  readonly #preparer = new Preparer();

  /** The rules of a place; none if CEL cannot speak of its values. */
  compile({ schema, rules, resourceRoot }: RulePlace): readonly CompiledRule[] {
    const shape = shapeOf(schema, resourceRoot);
    if (shape === undefined) return [];
    const typed = new Map<string, Typed>();
    return rules.map((rule) => {
      const formats = FORMATS.test(`${rule.rule} ${rule.messageExpression ?? ""}`);
      const optional = rule.optionalOldSelf === true;
      const key = `${formats} ${optional}`;
      const known = typed.get(key) ?? this.#declare(shape, { formats, optional });
      typed.set(key, known);
      return new CompiledRule(rule, { preparer: this.#preparer, ...known, dynamic: this.#dynamic, shape });
    });
  }

  /** An environment that knows the types of `self` and `oldSelf`. Only what is formatted may be a list of several types. */
  #declare(shape: Shape, { formats, optional }: { readonly formats: boolean; readonly optional: boolean }): Typed {
    const typed = this.#base.clone({ homogeneousAggregateLiterals: !formats });
    const { type, fields } = declareShape(typed, shape);
    typed.registerVariable("self", type);
    typed.registerVariable("oldSelf", optional ? `optional<${type}>` : type);
    return { typed, fields };
  }
}
