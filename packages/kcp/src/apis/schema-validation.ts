import {
  fieldInvalid,
  fieldRequired,
  nameProblems,
  OMITTED_VALUE,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import type { APIResourceSchema } from "../kinds/api-resource-schema.ts";
import { type SchemaRules, versionProblems } from "./schema-version-validation.ts";

type Spec = NonNullable<APIResourceSchema["spec"]>;

/**
 * Returns the problems of an APIResourceSchema beyond its own schema. Its name must be `<prefix>.<plural>.<group>`, and a
 * CustomResourceDefinition must be able to describe the resource. kcp answers all of them as one 403.
 */
export function apiResourceSchemaProblems(
  { metadata, spec }: APIResourceSchema,
  rules: SchemaRules = {},
): StatusCause[] {
  if (spec === undefined) return [];
  return [
    ...schemaNameProblems(metadata.name ?? "", spec),
    ...approvalProblems(spec.group, metadata.annotations),
    ...groupProblems(spec.group, "spec.group"),
    ...versionsProblems(spec, rules),
    ...namesProblems(spec.names, "spec.names"),
  ];
}

/**
 * Returns the problems of an update of an APIResourceSchema, whose spec is immutable. An accepted spec is accepted again, since a server of
 * another release may have had other limits.
 */
export function apiResourceSchemaUpdateProblems(
  next: APIResourceSchema,
  before: APIResourceSchema,
  rules: SchemaRules = {},
): StatusCause[] {
  if (!equalJson(next.spec ?? {}, before.spec ?? {}))
    return [...apiResourceSchemaProblems(next, rules), fieldInvalid("spec", OMITTED_VALUE, "is immutable")];
  return next.spec === undefined ? [] : approvalProblems(next.spec.group, next.metadata.annotations);
}

const PREFIX = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;

function schemaNameProblems(name: string, { names, group }: Spec): StatusCause[] {
  if (names.plural === "") return [];
  const end = `.${names.plural}.${group === "" ? "core" : group}`;
  if (!name.endsWith(end)) return [fieldInvalid("metadata.name", name, `must end in ${end}`)];
  if (PREFIX.test(name.slice(0, -end.length))) return [];
  return [fieldInvalid("metadata.name", name, `must match ^[a-z]([-a-z0-9]*[a-z0-9])?$ in front of ${end}`)];
}

function versionsProblems({ versions }: Spec, rules: SchemaRules): StatusCause[] {
  const path = "spec.versions";
  const isUnique = new Set(versions.map(({ name }) => name)).size === versions.length;
  const stored = versions.filter(({ storage }) => storage).length;
  const wrong = (detail: string): StatusCause => fieldInvalid(path, OMITTED_VALUE, detail);
  return [
    ...versions.flatMap((version, at) => [
      ...dns1035Problems(version.name).map((why) => fieldInvalid(`${path}[${at}].name`, version.name, why)),
      ...versionProblems(version, `${path}[${at}]`, rules),
    ]),
    ...(isUnique ? [] : [wrong("must contain unique version names")]),
    ...(stored === 1 ? [] : [wrong("must have exactly one version marked as storage version")]),
  ];
}

/** Kubernetes' own groups without a domain, which kcp accepts in definitions (its `kubernetesAPIGroups`). */
export const PLAIN_GROUPS: ReadonlySet<string> = new Set(["apps", "batch", "extensions", "policy", "autoscaling"]);

/** Returns the problems of the group of an exported resource. The core group is "". */
function groupProblems(group: string, path: string): StatusCause[] {
  if (group === "") return [];
  if (group === "core") return [fieldInvalid(path, group, "must be empty string for the core group")];
  const why = nameProblems(group);
  if (why.length > 0) return [fieldInvalid(path, group, why.join(","))];
  if (group.includes(".") || PLAIN_GROUPS.has(group)) return [];
  return [fieldInvalid(path, group, "should be a domain with at least one dot")];
}

/** Annotation that states whether the Kubernetes community approved a resource in one of its groups. */
const APPROVED_ANNOTATION = "api-approved.kubernetes.io";
const REASON = "see https://github.com/kubernetes/enhancements/pull/1111";

/** Checks that an annotation approves a resource in a group of the Kubernetes community (apihelpers' GetAPIApprovalState). */
function approvalProblems(group: string, annotations: Readonly<Record<string, string>> | undefined): StatusCause[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const path = `metadata.annotations[${APPROVED_ANNOTATION}]`;
  const approved = annotations?.[APPROVED_ANNOTATION] ?? "";
  const must = `protected groups must have approval annotation "${APPROVED_ANNOTATION}"`;
  if (approved === "") return [fieldRequired(path, `${must}, ${REASON}`)];
  if (approved.startsWith("unapproved") || isUrl(approved)) return [];
  const detail = `${must} with either a URL or a reason starting with "unapproved", ${REASON}`;
  return [fieldInvalid(path, approved, detail)];
}

function isUrl(text: string): boolean {
  return URL.canParse(text) && new URL(text).host !== "";
}

/** Names of a resource (apiextensions' CustomResourceDefinitionNames). */
export interface ResourceNames {
  readonly plural: string;
  readonly kind: string;
  readonly singular?: string | undefined;
  readonly listKind?: string | undefined;
  readonly shortNames?: readonly string[] | undefined;
  readonly categories?: readonly string[] | undefined;
}

/** Returns the problems of the names of a resource, all of which are required (apiextensions' ValidateCustomResourceDefinitionNames). */
function namesProblems(names: ResourceNames, path: string): StatusCause[] {
  const { plural, singular = "", kind, listKind = "", shortNames = [], categories = [] } = names;
  const required = Object.entries({ plural, singular, kind, listKind }).filter(([, name]) => name === "");
  const plain = { plural, singular };
  const mixed = { kind, listKind };
  const lists = { shortNames, categories };
  return [
    ...required.map(([field]) => fieldRequired(`${path}.${field}`)),
    ...Object.entries(plain).flatMap(([field, name]) => labelProblems(name, `${path}.${field}`)),
    ...Object.entries(mixed).flatMap(([field, name]) => kindProblems(name, `${path}.${field}`)),
    ...(kind !== "" && kind === listKind
      ? [fieldInvalid(`${path}.listKind`, listKind, "kind and listKind may not be the same")]
      : []),
    ...Object.entries(lists).flatMap(([field, all]) =>
      all.flatMap((name, at) => dns1035Problems(name).map((why) => fieldInvalid(`${path}.${field}[${at}]`, name, why))),
    ),
  ];
}

/** Returns why a text is no DNS-1035 label, which names and versions of resources must be. Empty for a valid label. */
function dns1035Problems(text: string): string[] {
  const isLabel = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/.test(text);
  return [...(text.length > 63 ? ["must be no more than 63 characters"] : []), ...(isLabel ? [] : [DNS_1035])];
}

const DNS_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and " +
  "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
  "'[a-z]([-a-z0-9]*[a-z0-9])?')";

function labelProblems(name: string, path: string): StatusCause[] {
  const why = name === "" ? [] : dns1035Problems(name);
  return why.length === 0 ? [] : [fieldInvalid(path, name, why.join(","))];
}

function kindProblems(name: string, path: string): StatusCause[] {
  const why = name === "" ? [] : dns1035Problems(name.toLowerCase());
  if (why.length === 0) return [];
  return [fieldInvalid(path, name, `may have mixed case, but should otherwise match: ${why.join(",")}`)];
}
