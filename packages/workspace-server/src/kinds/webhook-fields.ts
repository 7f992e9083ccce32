import {
  dnsLabelProblems,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooMany,
  labelKeyProblems,
  labelValueProblems,
  nameProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import type { LazyExpressions } from "@virtual-workspaces/framework/resource";
import { itemsOf, membersOf, textOf } from "./problems.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Returns a list of texts; empty if the value is none. */
export const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(textOf) : []);

const OPERATIONS: readonly string[] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

/** Validates a rule of a webhook (validateRuleWithOperations). */
export function ruleProblems(rule: Fields, field: string): StatusCause[] {
  const [operations, groups, versions] = [
    textsOf(rule["operations"]),
    textsOf(rule["apiGroups"]),
    textsOf(rule["apiVersions"]),
  ];
  return [
    ...alone(operations, `${field}.operations`, "operations"),
    ...operations.flatMap((one, at) => supported(one, `${field}.operations[${at}]`, OPERATIONS)),
    ...alone(groups, `${field}.apiGroups`, "API groups"),
    ...alone(versions, `${field}.apiVersions`, "API versions"),
    ...versions.flatMap((one, at) => (one === "" ? [fieldRequired(`${field}.apiVersions[${at}]`)] : [])),
    ...resourcesProblems(textsOf(rule["resources"]), `${field}.resources`),
    ...supported(rule["scope"], `${field}.scope`, ["*", "Cluster", "Namespaced"]),
  ];
}

/** Requires that a value is one of a list. */
export function supported(value: unknown, field: string, values: readonly string[]): StatusCause[] {
  if (value === undefined || value === null || values.includes(textOf(value))) return [];
  return [fieldNotSupported(field, value, values)];
}

/** Requires a value, and that `*` stands alone. */
function alone(values: readonly string[], field: string, what: string): StatusCause[] {
  if (values.length === 0) return [fieldRequired(field)];
  if (values.length === 1 || !values.includes("*")) return [];
  return [fieldInvalid(field, values, `if '*' is present, must not specify other ${what}`)];
}

function resourcesProblems(resources: readonly string[], field: string): StatusCause[] {
  if (resources.length === 0) return [fieldRequired(field)];
  const found: StatusCause[] = [];
  const [withAllSubresources, ofAllResources] = [new Set<string>(), new Set<string>()];
  let isWithout = false;
  for (const [at, text] of resources.entries()) {
    const place = `${field}[${at}]`;
    const slash = text.indexOf("/");
    if (text === "") found.push(fieldRequired(place));
    else if (slash === -1) isWithout = text !== "*";
    if (slash === -1) continue;
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    if (withAllSubresources.has(resource))
      found.push(fieldInvalid(place, text, `if '${resource}/*' is present, must not specify ${text}`));
    if (ofAllResources.has(subresource))
      found.push(fieldInvalid(place, text, `if '*/${subresource}' is present, must not specify ${text}`));
    if (subresource === "*") withAllSubresources.add(resource);
    if (resource === "*") ofAllResources.add(subresource);
  }
  if (resources.length > 1 && resources.includes("*/*"))
    found.push(fieldInvalid(field, resources, "if '*/*' is present, must not specify other resources"));
  if (resources.includes("*") && isWithout)
    found.push(
      fieldInvalid(field, resources, "if '*' is present, must not specify other resources without subresources"),
    );
  return found;
}

/** Validates the address of a webhook. The certificates are used as they are, as in Kubernetes. */
export function addressProblems({ url, service }: Fields, field: string): StatusCause[] {
  const isUrl = url !== undefined && url !== null;
  if (isUrl === (service !== undefined && service !== null))
    return [fieldRequired(field, "exactly one of url or service is required")];
  return isUrl ? urlProblems(textOf(url), `${field}.url`) : serviceProblems(membersOf(service), `${field}.service`);
}

const FORM = "; desired format: https://host[/path]";

/** As ValidateWebhookURL, with the parts of the text as sent. */
function urlProblems(text: string, field: string): StatusCause[] {
  const [, scheme = "", authority = "", rest = ""] =
    /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?(.*)$/s.exec(text) ?? [];
  const at = authority.lastIndexOf("@");
  const [user, host] = at === -1 ? [undefined, authority] : [authority.slice(0, at), authority.slice(at + 1)];
  const [, query = "", fragment = ""] = /^[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(rest) ?? [];
  const isHttps = scheme.toLowerCase() === "https";
  const found = [
    ...(isHttps ? [] : [fieldInvalid(field, scheme.toLowerCase(), `'https' is the only allowed URL scheme${FORM}`)]),
    ...(host === "" ? [fieldInvalid(field, host, `host must be specified${FORM}`)] : []),
    ...(user === undefined ? [] : [fieldInvalid(field, user, "user information is not permitted in the URL")]),
    ...(fragment === "" ? [] : [fieldInvalid(field, fragment, "fragments are not permitted in the URL")]),
    ...(query === "" ? [] : [fieldInvalid(field, query, "query parameters are not permitted in the URL")]),
  ];
  if (found.length > 0 || URL.canParse(text)) return found;
  return [fieldRequired(field, `url must be a valid URL: use an absolute URL${FORM}`)];
}

function serviceProblems({ name, namespace, port = 443, path }: Fields, field: string): StatusCause[] {
  const number = Number(port);
  return [
    ...(textOf(name) === "" ? [fieldRequired(`${field}.name`)] : []),
    ...(textOf(namespace) === "" ? [fieldRequired(`${field}.namespace`)] : []),
    ...(number >= 1 && number <= 65_535
      ? []
      : [fieldInvalid(`${field}.port`, port, "port is not valid: must be between 1 and 65535, inclusive")]),
    ...pathProblems(textOf(path), `${field}.path`),
  ];
}

function pathProblems(path: string, field: string): StatusCause[] {
  if (path === "" || path === "/") return [];
  const wrong = (detail: string): StatusCause => fieldInvalid(field, path, detail);
  if (path === "//") return [wrong("segment[0] may not be empty")];
  const segments = path.slice(1).replace(/\/$/, "").split("/");
  return [
    ...(path.startsWith("/") ? [] : [wrong("must start with a '/'")]),
    ...segments.flatMap((segment, at) => {
      if (segment === "") return [wrong(`segment[${at}] may not be empty`)];
      return nameProblems(segment).map((problem) => wrong(`segment[${at}]: ${problem}`));
    }),
  ];
}

/** Validates a label selector (metav1.ValidateLabelSelector). @param options.anyValue whether values may be no label values */
export function selectorProblems(
  selector: unknown,
  field: string,
  { anyValue }: { readonly anyValue: boolean },
): StatusCause[] {
  const { matchLabels, matchExpressions } = membersOf(selector);
  const labels = `${field}.matchLabels`;
  return [
    ...Object.entries(membersOf(matchLabels)).flatMap(([key, value]) => [
      ...labelKeyProblems(key).map((problem) => fieldInvalid(labels, key, problem)),
      ...labelValueProblems(textOf(value)).map((problem) => fieldInvalid(labels, value, problem)),
    ]),
    ...itemsOf(matchExpressions).flatMap((requirement, at) =>
      requirementProblems(requirement, `${field}.matchExpressions[${at}]`, anyValue),
    ),
  ];
}

function requirementProblems({ key, operator, values }: Fields, field: string, anyValue: boolean): StatusCause[] {
  const all: readonly unknown[] = Array.isArray(values) ? values : [];
  return [
    ...operatorProblems(textOf(operator), all, field),
    ...labelKeyProblems(textOf(key)).map((problem) => fieldInvalid(`${field}.key`, textOf(key), problem)),
    ...(anyValue ? [] : all).flatMap((value, at) =>
      labelValueProblems(textOf(value)).map((problem) => fieldInvalid(`${field}.values[${at}]`, value, problem)),
    ),
  ];
}

function operatorProblems(operator: string, values: readonly unknown[], field: string): StatusCause[] {
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length > 0) return [];
      return [fieldRequired(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case "Exists":
    case "DoesNotExist":
      if (values.length === 0) return [];
      return [fieldForbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      return [fieldInvalid(`${field}.operator`, operator, "not a valid selector operator")];
  }
}

/** As IsDNS1035Label. */
export function dns1035Problems(text: string): string[] {
  const long = text.length > 63 ? dnsLabelProblems(text).slice(0, 1) : [];
  return /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/.test(text) ? long : [...long, DNS_1035];
}

const DNS_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and " +
  "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
  "'[a-z]([-a-z0-9]*[a-z0-9])?')";

const MOST_CONDITIONS = 64;

/** Validates match conditions (validateMatchConditions). @param compiler with the variables that they may use */
export function conditionProblems(
  conditions: readonly Fields[],
  field: string,
  compiler: Pick<LazyExpressions, "compile">,
): StatusCause[] {
  const names = new Set<string>();
  return [
    ...(conditions.length > MOST_CONDITIONS ? [fieldTooMany(field, conditions.length, MOST_CONDITIONS)] : []),
    ...conditions.flatMap(({ name, expression }, at) => {
      const place = `${field}[${at}]`;
      const isTwice = textOf(name) !== "" && names.has(textOf(name));
      names.add(textOf(name));
      return [
        ...conditionExpressionProblems(textOf(expression).trim(), `${place}.expression`, compiler),
        ...(name === "" ? [fieldRequired(`${place}.name`)] : []),
        ...(textOf(name) === "" ? [] : labelKeyProblems(textOf(name))).map((problem) =>
          fieldInvalid(`${place}.name`, name, problem),
        ),
        ...(isTwice ? [fieldDuplicate(`${place}.name`, name)] : []),
      ];
    }),
  ];
}

function conditionExpressionProblems(
  source: string,
  field: string,
  compiler: Pick<LazyExpressions, "compile">,
): StatusCause[] {
  if (source === "") return [fieldRequired(field)];
  const compiled = compiler.compile(source, "bool");
  return "problem" in compiled ? [fieldInvalid(field, source, compiled.problem)] : [];
}
