// Where we say something else than Kubernetes, and mean it, or cannot do otherwise.
import type { Verdict } from "./judge.ts";

const invalid = (...causes: string[]): Verdict => ({ code: 422, reason: "Invalid", causes });
const X = "spec.validation.openAPIV3Schema.properties[spec].properties[x]";

export const INTENDED: Readonly<Record<string, Verdict>> = {
  // Kubernetes warns so of all kinds but this one.
  "finalizers that are none": {
    code: 201,
    warnings: [
      '299 - "metadata.finalizers: \\"x\\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"',
    ],
  },
  // What is no schema is nothing that more could be said of.
  "schema: items as a list": invalid(`FieldValueInvalid ${X}.items: Invalid value: [{"type":"string"}]: must be a schema`),
  // The parser's own words.
  "schema: a rule that is none": invalid(
    `FieldValueInvalid ${X}.x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self \\u003e","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:7: Syntax error: unexpected token: EOF\n | self >\n | ......^`,
  ),
};
