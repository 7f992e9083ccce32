// Deliberate or unavoidable differences from Kubernetes.
import type { Verdict } from "./judge.ts";

const invalid = (...causes: string[]): Verdict => ({ code: 422, reason: "Invalid", causes });
const X = "spec.validation.openAPIV3Schema.properties[spec].properties[x]";

export const INTENDED: Readonly<Record<string, Verdict>> = {
  // Kubernetes warns about this for all other kinds.
  "finalizers that are none": {
    code: 201,
    warnings: [
      '299 - "metadata.finalizers: \\"x\\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"',
    ],
  },
  // kcp accepts the core group.
  "no group": invalid(
    'FieldValueInvalid metadata.name: Invalid value: "widgets.example.dev": must be spec.names.plural+"."+spec.group',
  ),
  // An invalid schema is not checked further.
  "schema: items as a list": invalid(
    `FieldValueInvalid ${X}.items: Invalid value: [{"type":"string"}]: must be a schema`,
  ),
  // The message comes from the CEL parser.
  "schema: a rule that is none": invalid(
    `FieldValueInvalid ${X}.x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self \\u003e","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:7: Syntax error: unexpected token: EOF\n | self >\n | ......^`,
  ),
};
