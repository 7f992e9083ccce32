import {
  boundedCauses,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type KubeObject,
  nameProblems,
  type ObjectMeta,
  objectMetaProblems,
  objectMetaUpdateProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { PLAIN_GROUPS } from "@virtual-workspaces/kcp/apis";
import {
  approvalProblems,
  CORE_GROUP,
  type CrdNames,
  type CrdSpec,
  type CrdStatus,
  type CustomResourceDefinition,
  hasCondition,
} from "../definition/definition.ts";
import {
  labelCause,
  missingSchemas,
  sharedFields,
  sharedProblems,
  versionProblems,
  versionsProblems,
} from "./versions.ts";

type Causes = Generator<StatusCause, void>;

/** Definition with decoded fields and defaults. */
export type Checked = Pick<KubeObject, "metadata"> & { readonly spec: CrdSpec; readonly status?: CrdStatus };

/**
 * Validates a new CustomResourceDefinition (ValidateCustomResourceDefinition), with the messages and the order of
 * Kubernetes, up to a thousand causes.
 */
export function createProblems(crd: Checked): StatusCause[] {
  return boundedCauses(newProblems(crd));
}

/** Validates an update of the definition `before`, without its status; the resource version is required. */
export function updateProblems(crd: Checked, before: CustomResourceDefinition): StatusCause[] {
  return boundedCauses(changeProblems(crd, before));
}

/** Validates a status. */
export function statusProblems({ acceptedNames }: CrdStatus): StatusCause[] {
  return acceptedNames === undefined ? [] : boundedCauses(namesProblems(acceptedNames, "status.acceptedNames"));
}

function* newProblems(crd: Checked): Causes {
  const { spec, metadata } = crd;
  const required = `${spec.names.plural}.${spec.group === "" ? CORE_GROUP : spec.group}`;
  const name = (text: string): string[] => [
    ...nameProblems(text),
    ...(text === required ? [] : [`must be spec.names.plural+"."+spec.group`]),
  ];
  // A generated name never equals the required one.
  const named =
    metadata.name === undefined && metadata.generateName !== undefined
      ? { ...metadata, name: `${metadata.generateName}xxxxx` }
      : metadata;
  yield* objectMetaProblems(named, { namespaced: false, name });
  yield* specProblems(spec, undefined);
  yield* storedProblems(crd);
  yield* approvalProblems(spec.group, crd, undefined);
  if (spec.preserveUnknownFields === true) yield PRESERVES;
}

function* changeProblems(crd: Checked, before: CustomResourceDefinition): Causes {
  const { spec, metadata } = crd;
  const next = { ...metadata, ...systemFields(before.metadata), uid: metadata.uid ?? before.metadata.uid ?? "" };
  yield* objectMetaProblems(next, { namespaced: false, name: () => [] });
  yield* objectMetaUpdateProblems(next, before.metadata);
  yield* specProblems(spec, before.spec);
  if (hasCondition(before.status, "Established")) {
    yield* immutable("spec.scope", spec.scope, before.spec.scope);
    yield* immutable("spec.names.kind", spec.names.kind, before.spec.names.kind);
  }
  yield* immutable("spec.group", spec.group, before.spec.group);
  yield* immutable("spec.names.plural", spec.names.plural, before.spec.names.plural);
  yield* storedProblems(crd);
  yield* approvalProblems(spec.group, crd, before);
  if (spec.preserveUnknownFields === true && before.spec.preserveUnknownFields !== true) yield PRESERVES;
}

/** Returns the fields that an update cannot change. */
function systemFields(before: ObjectMeta): ObjectMeta {
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = before;
  return {
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
  };
}

const PRESERVES: StatusCause = fieldInvalid(
  "spec.preserveUnknownFields",
  true,
  "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
);

function* specProblems(spec: CrdSpec, before: CrdSpec | undefined): Causes {
  const rules = { shared: sharedFields(spec), before };
  yield* groupProblems(spec.group);
  if ((spec.scope as string) === "") yield fieldRequired("spec.scope");
  else if (!["Cluster", "Namespaced"].includes(spec.scope))
    yield fieldNotSupported("spec.scope", spec.scope, ["Cluster", "Namespaced"]);
  yield* missingSchemas(spec);
  yield* versionProblems(spec, rules);
  yield* versionsProblems(spec);
  yield* missingNames(spec.names);
  yield* namesProblems(spec.names, "spec.names");
  yield* sharedProblems(spec, rules);
  yield* conversionProblems(spec);
}

/** kcp accepts Kubernetes' own groups, whose kinds a workspace lacks; Kubernetes serves these kinds itself. */
function* groupProblems(group: string): Causes {
  if (group === "" || PLAIN_GROUPS.has(group)) return;
  const problems = nameProblems(group);
  if (problems.length > 0) yield fieldInvalid("spec.group", group, problems.join(","));
  else if (!group.includes(".")) yield fieldInvalid("spec.group", group, "should be a domain with at least one dot");
}

/** Rejects conversion webhooks explicitly: they would never be called, and fields would be lost. */
function* conversionProblems({ conversion }: CrdSpec): Causes {
  if (conversion === undefined) return;
  const { strategy, webhook } = conversion;
  const field = "spec.conversion.strategy";
  if (strategy === "") yield fieldRequired(field);
  else if (strategy === "Webhook")
    yield fieldInvalid(field, strategy, "conversion webhooks are not supported: use None, with equal schemas");
  else if (strategy !== "None") yield fieldNotSupported(field, strategy, ["None", "Webhook"]);
  if (webhook === undefined || strategy === "Webhook") return;
  const { clientConfig, conversionReviewVersions = [] } = webhook as Readonly<Record<string, unknown>> & {
    readonly conversionReviewVersions?: readonly string[];
  };
  const detail = "should not be set when strategy is not set to Webhook";
  if (clientConfig !== undefined) yield fieldForbidden("spec.conversion.webhookClientConfig", detail);
  if (conversionReviewVersions.length > 0) yield fieldForbidden("spec.conversion.conversionReviewVersions", detail);
}

function* storedProblems({ spec: { versions = [] }, status = {} }: Checked): Causes {
  const { storedVersions = [], acceptedNames } = status;
  if (acceptedNames !== undefined) yield* namesProblems(acceptedNames, "status.acceptedNames");
  const field = "status.storedVersions";
  if (storedVersions.length === 0) {
    yield fieldInvalid(field, null, "must have at least one stored version");
    return;
  }
  for (const { name, storage } of versions)
    if (storage && !storedVersions.includes(name))
      yield fieldInvalid(field, storedVersions, `must have the storage version ${name}`);
  const known = new Set(versions.map(({ name }) => name));
  for (const [at, name] of storedVersions.entries()) {
    if (known.has(name) || storedVersions.lastIndexOf(name) !== at) continue;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    yield fieldInvalid(`${field}[${at}]`, name, detail);
  }
}

function* immutable(field: string, value: string, before: string): Causes {
  if (value !== before) yield fieldInvalid(field, value, "field is immutable");
}

const MIXED = "may have mixed case, but should otherwise match: ";

/** Validates names that are set (apiextensions' ValidateCustomResourceDefinitionNames). */
function* namesProblems(names: CrdNames, path: string): Causes {
  const { plural, singular = "", kind, listKind = "", shortNames = [], categories = [] } = names;
  if (plural !== "") yield* labelCause(`${path}.plural`, plural);
  if (singular !== "") yield* labelCause(`${path}.singular`, singular);
  if (kind !== "") yield* labelCause(`${path}.kind`, kind, MIXED);
  if (listKind !== "") yield* labelCause(`${path}.listKind`, listKind, MIXED);
  for (const [at, name] of shortNames.entries()) yield* labelCause(`${path}.shortNames[${at}]`, name);
  if (kind !== "" && kind === listKind)
    yield fieldInvalid(`${path}.listKind`, listKind, "kind and listKind may not be the same");
  for (const [at, name] of categories.entries()) yield* labelCause(`${path}.categories[${at}]`, name);
}

/** Reports missing names that a spec requires. */
function* missingNames(names: CrdNames): Causes {
  for (const name of ["plural", "singular", "kind", "listKind"] as const)
    if ((names[name] ?? "") === "") yield fieldRequired(`spec.names.${name}`);
}
