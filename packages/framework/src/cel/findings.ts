import {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  OMITTED_VALUE,
  type RuleSite,
  resolveFieldPath,
  ruleField,
  type StatusCause,
  type ValidationRule,
} from "@virtual-workspaces/apimachinery";
import type { Finding } from "./compiled-rule.ts";

/** What a rule says of a site as a cause, with the rule's own reason and field. */
export function causeOf(site: RuleSite, rule: ValidationRule, { kind, detail }: Finding): StatusCause {
  const type = site.schema.type ?? "";
  if (kind === "error") return fieldInvalid(ruleField(site), type, detail);
  const field = ruleField(site, normalizedPath(rule, site));
  const value = type === "object" || type === "array" ? OMITTED_VALUE : site.self;
  switch (rule.reason) {
    case "FieldValueForbidden":
      return fieldForbidden(field, detail);
    case "FieldValueRequired":
      return fieldRequired(field, detail);
    case "FieldValueDuplicate":
      return fieldDuplicate(field, value);
    default:
      return fieldInvalid(field, value, detail);
  }
}

/** What is said of a site when there is no budget left. */
export function exhausted(site: RuleSite): StatusCause {
  const detail = "validation failed due to running out of cost budget, no further validation rules will be run";
  return fieldInvalid(ruleField(site), site.schema.type ?? "", detail);
}

function normalizedPath({ fieldPath = "" }: ValidationRule, site: RuleSite): string {
  if (fieldPath === "") return "";
  const resolved = resolveFieldPath(fieldPath, site.schema);
  return typeof resolved === "string" ? "" : resolved.path;
}
