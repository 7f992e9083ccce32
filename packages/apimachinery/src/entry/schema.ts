/**
 * Structural schemas, compiled: validation, defaults, pruning, rules.
 *
 * @module
 */

export { type FieldPathOptions, resolveFieldPath, type SchemaField } from "../structural/field-path.ts";
export { isRecognizedFormat } from "../structural/formats/formats.ts";
export type { PatternCompiler } from "../structural/node.ts";
export { type StructuralProblemsOptions, structuralProblems } from "../structural/problems/problems.ts";
export {
  type DefaultRuleSites,
  type DefaultRuleSitesOptions,
  defaultRuleSites,
  type RuleSite,
  ruleField,
  ruleSites,
  type StaticRuleSite,
} from "../structural/rules.ts";
export { type CompileOptions, compileSchema, StructuralSchema } from "../structural/structural-schema.ts";
