import { equalJson, fieldInvalid, OMITTED_VALUE, type StatusCause } from "@virtual-workspaces/apimachinery";
import type { APIResourceSchema } from "../kinds/api-resource-schema.ts";
import { approvalProblems, groupProblems } from "./group-problems.ts";
import { dns1035Problems, namesProblems } from "./names-problems.ts";
import { type SchemaRules, versionProblems } from "./version-problems.ts";

type Spec = NonNullable<APIResourceSchema["spec"]>;

/**
 * What is wrong with an APIResourceSchema beyond its own schema: its name must be `<prefix>.<plural>.<group>`, and the
 * resource one that a CustomResourceDefinition could describe. Kcp answers all of it as one 403.
 */
export function apiResourceSchemaProblems(
  { metadata, spec }: APIResourceSchema,
  rules: SchemaRules = {},
): StatusCause[] {
  if (spec === undefined) return [];
  return [
    ...nameProblems(metadata.name ?? "", spec),
    ...approvalProblems(spec.group, metadata.annotations),
    ...groupProblems(spec.group, "spec.group"),
    ...versionsProblems(spec, rules),
    ...namesProblems(spec.names, "spec.names"),
  ];
}

/** The same of one that is changed: nothing of its spec may become another. */
export function apiResourceSchemaUpdateProblems(
  next: APIResourceSchema,
  before: APIResourceSchema,
  rules: SchemaRules = {},
): StatusCause[] {
  const problems = apiResourceSchemaProblems(next, rules);
  if (equalJson(next.spec ?? {}, before.spec ?? {})) return problems;
  return [...problems, fieldInvalid("spec", OMITTED_VALUE, "is immutable")];
}

const PREFIX = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;

function nameProblems(name: string, { names, group }: Spec): StatusCause[] {
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
