import { fieldInvalid, fieldNotSupported, fieldRequired } from "../../field-cause.ts";
import type { JsonSchema, ValidationRule } from "../../schema.ts";
import type { StatusCause } from "../../status.ts";
import { resolveFieldPath } from "../field-path.ts";

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const NEW_LINE = /[\n\r]/;

/** What is wrong with `x-kubernetes-validations`, their expressions aside. */
export function ruleProblems(schema: JsonSchema, path: string): StatusCause[] {
  return (schema["x-kubernetes-validations"] ?? []).flatMap((rule, at) => {
    const field = `${path}.x-kubernetes-validations[${at}]`;
    return [...textProblems(rule, field), ...targetProblems(rule, field, schema)];
  });
}

function textProblems({ rule, message = "", messageExpression = "" }: ValidationRule, field: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const said = message.trim();
  if (rule.trim() === "") causes.push(fieldRequired(`${field}.rule`, "rule is not specified"));
  else if (message !== "" && said === "")
    causes.push(fieldInvalid(`${field}.message`, message, "must be non-empty if specified"));
  else if (NEW_LINE.test(said)) causes.push(fieldInvalid(`${field}.message`, message, "must not contain line breaks"));
  else if (NEW_LINE.test(rule.trim()) && said === "")
    causes.push(fieldRequired(`${field}.message`, "message must be specified if rule contains line breaks"));
  if (messageExpression !== "" && messageExpression.trim() === "")
    causes.push(fieldRequired(`${field}.messageExpression`, "messageExpression must be non-empty if specified"));
  return causes;
}

function targetProblems({ reason, fieldPath = "" }: ValidationRule, field: string, schema: JsonSchema): StatusCause[] {
  const causes: StatusCause[] = [];
  if (reason !== undefined && !REASONS.includes(reason))
    causes.push(fieldNotSupported(`${field}.reason`, reason, REASONS));
  if (fieldPath === "") return causes;
  const where = `${field}.fieldPath`;
  if (fieldPath.trim() === "") causes.push(fieldInvalid(where, fieldPath, "must be non-empty if specified"));
  if (NEW_LINE.test(fieldPath)) causes.push(fieldInvalid(where, fieldPath, "must not contain line breaks"));
  if (typeof resolveFieldPath(fieldPath, schema) === "string")
    causes.push(fieldInvalid(where, fieldPath, "must be a valid path"));
  return causes;
}
