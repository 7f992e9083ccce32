import type { Environment } from "@marcbachmann/cel-js";
import type { JsonSchema, ValidationRule } from "@virtual-workspaces/apimachinery";
import { CompiledRule } from "./compiled-rule.ts";
import { declareShape } from "./library/declare.ts";
import { createEnvironment } from "./library/environment.ts";
import { Preparer } from "./library/prepare.ts";
import { shapeOf } from "./types/shape.ts";

/** One place of a schema that has rules. */
export interface RulePlace {
  readonly schema: JsonSchema;
  readonly rules: readonly ValidationRule[];
  readonly resourceRoot: boolean;
}

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
    return rules.map((rule) => {
      // Only what is formatted may be a list of different types.
      const formats = /\.\s*format\s*\(/.test(`${rule.rule} ${rule.messageExpression ?? ""}`);
      const typed = this.#base.clone({ homogeneousAggregateLiterals: !formats });
      const { type, fields } = declareShape(typed, shape);
      typed.registerVariable("self", type);
      typed.registerVariable("oldSelf", rule.optionalOldSelf === true ? `optional<${type}>` : type);
      return new CompiledRule(rule, { preparer: this.#preparer, typed, fields, dynamic: this.#dynamic, shape });
    });
  }
}
