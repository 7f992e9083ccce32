import type { Causes } from "../../bounded-causes.ts";
import { fieldInvalid, fieldNotSupported, fieldRequired } from "../../field-cause.ts";
import type { JsonSchema, ValidationRule } from "../../schema.ts";
import { resolveFieldPath } from "../field-path.ts";

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const NEW_LINE = /[\n\r]/;

/** What is wrong with `x-kubernetes-validations`, their expressions aside. */
export function* ruleProblems(schema: JsonSchema, path: string): Causes {
  for (const [at, rule] of (schema["x-kubernetes-validations"] ?? []).entries()) {
    const field = `${path}.x-kubernetes-validations[${at}]`;
    yield* textProblems(rule, field);
    yield* targetProblems(rule, field, schema);
  }
}

function* textProblems({ rule, message = "", messageExpression = "" }: ValidationRule, field: string): Causes {
  const said = message.trim();
  if (rule.trim() === "") yield fieldRequired(`${field}.rule`, "rule is not specified");
  else if (message !== "" && said === "")
    yield fieldInvalid(`${field}.message`, message, "must be non-empty if specified");
  else if (NEW_LINE.test(said)) yield fieldInvalid(`${field}.message`, message, "must not contain line breaks");
  else if (NEW_LINE.test(rule.trim()) && said === "")
    yield fieldRequired(`${field}.message`, "message must be specified if rule contains line breaks");
  if (messageExpression !== "" && messageExpression.trim() === "")
    yield fieldRequired(`${field}.messageExpression`, "messageExpression must be non-empty if specified");
}

function* targetProblems({ reason, fieldPath = "" }: ValidationRule, field: string, schema: JsonSchema): Causes {
  if (reason !== undefined && !REASONS.includes(reason)) yield fieldNotSupported(`${field}.reason`, reason, REASONS);
  if (fieldPath === "") return;
  const where = `${field}.fieldPath`;
  if (fieldPath.trim() === "") yield fieldInvalid(where, fieldPath, "must be non-empty if specified");
  if (NEW_LINE.test(fieldPath)) yield fieldInvalid(where, fieldPath, "must not contain line breaks");
  if (typeof resolveFieldPath(fieldPath, schema) === "string")
    yield fieldInvalid(where, fieldPath, "must be a valid path");
}
