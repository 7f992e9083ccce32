import {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  nameProblems,
  pathSegmentProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { itemsOf, membersOf, textOf } from "./problems.ts";
import { dns1035Problems, ruleProblems, selectorProblems, supported, textsOf } from "./webhook-fields.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Validates `paramKind` (validateParamKind). */
export function paramKindProblems(kind: Fields, field: string): StatusCause[] {
  const name = textOf(kind["kind"]);
  const named = (problem: string): string => `may have mixed case, but should otherwise match: ${problem}`;
  const problems = dns1035Problems(name.toLowerCase());
  return [
    ...apiVersionProblems(textOf(kind["apiVersion"]), `${field}.apiVersion`),
    ...(name === "" ? [fieldRequired(`${field}.kind`)] : []),
    ...(name === "" || problems.length === 0 ? [] : [fieldInvalid(`${field}.kind`, name, named(problems.join(",")))]),
  ];
}

function apiVersionProblems(text: string, field: string): StatusCause[] {
  if (text === "") return [fieldRequired(field)];
  const parts = text.split("/");
  if (parts.length > 2) return [fieldInvalid(field, text, `unexpected GroupVersion string: ${text}`)];
  const [version = "", group = ""] = parts.toReversed();
  const problems = group === "" ? [] : nameProblems(group);
  const versions = version === "" ? [] : dns1035Problems(version);
  return [
    ...(problems.length === 0 ? [] : [fieldInvalid(field, group, problems.join(","))]),
    ...(version === "" ? [fieldInvalid(field, text, "version must be specified")] : []),
    ...(versions.length === 0 ? [] : [fieldInvalid(field, version, versions.join(","))]),
  ];
}

/** Validates `matchConstraints` or `matchResources` (validateMatchResources). Missing fields have defaults. */
export function matchProblems(match: unknown, field: string): StatusCause[] {
  const { matchPolicy, namespaceSelector, objectSelector, resourceRules, excludeResourceRules } = membersOf(match);
  const selector = (value: unknown, name: string): StatusCause[] =>
    selectorProblems(value, `${field}.${name}`, { anyValue: false });
  return [
    ...supported(matchPolicy, `${field}.matchPolicy`, ["Equivalent", "Exact"]),
    ...selector(namespaceSelector, "namespaceSelector"),
    ...selector(objectSelector, "objectSelector"),
    ...itemsOf(resourceRules).flatMap((rule, at) => namedRuleProblems(rule, `${field}.resourceRules[${at}]`)),
    ...itemsOf(excludeResourceRules).flatMap((rule, at) =>
      namedRuleProblems(rule, `${field}.excludeResourceRules[${at}]`),
    ),
  ];
}

function namedRuleProblems(rule: Fields, field: string): StatusCause[] {
  const names = textsOf(rule["resourceNames"]);
  return [
    ...names.flatMap((name, at) => {
      const place = `${field}.resourceNames[${at}]`;
      const invalid = pathSegmentProblems(name).map((problem) => fieldInvalid(place, name, problem));
      return names.indexOf(name) < at ? [...invalid, fieldDuplicate(place, name)] : invalid;
    }),
    ...ruleProblems(rule, field),
  ];
}

/** Operations whose objects policies may change. */
const MUTABLE: readonly string[] = ["*", "CONNECT", "CREATE", "UPDATE"];

/** Rejects rules for operations whose objects cannot be changed. */
export function mutableProblems(match: unknown, field: string): StatusCause[] {
  return itemsOf(membersOf(match)["resourceRules"]).flatMap(({ operations }) =>
    textsOf(operations).flatMap((one) =>
      MUTABLE.includes(one) ? [] : [fieldNotSupported(`${field}.resourceRules.operations`, one, MUTABLE)],
    ),
  );
}

/** Validates `paramRef` (validateParamRef). */
export function paramRefProblems(reference: unknown, field: string): StatusCause[] {
  if (reference === undefined || reference === null) return [];
  const { name: value, selector, parameterNotFoundAction: action } = membersOf(reference);
  const name = textOf(value);
  const hasSelector = selector !== undefined && selector !== null;
  const both = "name and selector are mutually exclusive";
  return [
    ...(name === "" ? [] : pathSegmentProblems(name)).map((problem) => fieldInvalid(`${field}.name`, name, problem)),
    ...(name !== "" && hasSelector ? [fieldForbidden(`${field}.name`, both)] : []),
    ...(hasSelector ? selectorProblems(selector, `${field}.selector`, { anyValue: false }) : []),
    ...(name !== "" && hasSelector ? [fieldForbidden(`${field}.selector`, both)] : []),
    ...(name === "" && !hasSelector ? [fieldRequired(field, "one of name or selector must be specified")] : []),
    ...(textOf(action) === "" ? [fieldRequired(`${field}.parameterNotFoundAction`)] : []),
    ...(textOf(action) === "" ? [] : supported(action, `${field}.parameterNotFoundAction`, ["Deny", "Allow"])),
  ];
}

const ACTIONS: readonly string[] = ["Audit", "Deny", "Warn"];

/** Validates `validationActions` (validateValidationActions). */
export function actionProblems(value: unknown, field: string): StatusCause[] {
  const actions = textsOf(value);
  const both =
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
  return [
    ...actions.flatMap((action, at) => [
      ...supported(action, `${field}[${at}]`, ACTIONS),
      ...(actions.indexOf(action) < at ? [fieldDuplicate(`${field}[${at}]`, action)] : []),
    ]),
    ...(actions.includes("Deny") && actions.includes("Warn") ? [fieldInvalid(field, actions, both)] : []),
    ...(actions.length === 0 ? [fieldRequired(field, "at least one validation action is required")] : []),
  ];
}

const RESERVED: ReadonlySet<string> = new Set(
  (
    "true false null in as break const continue else for function if import let loop package namespace return var void " +
    "while"
  ).split(" "),
);

/** Reports whether a text may name a variable of an expression. */
export function isIdentifier(name: string): boolean {
  return /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !RESERVED.has(name);
}
