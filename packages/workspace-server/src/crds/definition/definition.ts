import {
  fieldInvalid,
  fieldRequired,
  formatTime,
  type JsonSchema,
  type KubeObject,
  type ObjectOf,
  quote,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";

/** Name of the core group in the names of definitions, `<plural>.core` (kcp). */
export const CORE_GROUP = "core";

/** Fields of a CustomResourceDefinition besides its metadata (apiextensions.k8s.io/v1). */
export interface CrdContent {
  readonly spec: CrdSpec;
  readonly status?: CrdStatus;
}

/** CustomResourceDefinition object. */
export type CustomResourceDefinition = ObjectOf<CrdContent>;

/** Kind, names and versions of a definition (CustomResourceDefinitionSpec). */
export interface CrdSpec {
  readonly group: string;
  readonly names: CrdNames;
  readonly scope: "Cluster" | "Namespaced";
  readonly versions: readonly CrdVersion[];
  readonly conversion?: CrdConversion;
  readonly preserveUnknownFields?: boolean;
}

/** Names of a kind (CustomResourceDefinitionNames). */
export interface CrdNames {
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
}

/** Version of a kind (CustomResourceDefinitionVersion). */
export interface CrdVersion {
  readonly name: string;
  /** Whether the API serves this version. */
  readonly served: boolean;
  /** Whether objects are stored in this version; true for exactly one. */
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: CrdSubresources;
  readonly additionalPrinterColumns?: readonly CrdColumn[];
  readonly selectableFields?: readonly CrdSelectableField[];
}

/** Subresources of a version (CustomResourceSubresources). */
export interface CrdSubresources {
  readonly status?: object;
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath?: string;
  };
}

/** Printer column (CustomResourceColumnDefinition). */
export interface CrdColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

/** Field that field selectors may use. */
export interface CrdSelectableField {
  readonly jsonPath: string;
}

/** Conversion between versions. Only `None` is supported. */
export interface CrdConversion {
  readonly strategy: string;
  readonly webhook?: object;
}

/** Status of a definition (CustomResourceDefinitionStatus). */
export interface CrdStatus {
  readonly conditions?: readonly CrdCondition[];
  /** Names under which the kind is served. */
  readonly acceptedNames?: CrdNames;
  /** Versions in which objects may be stored. */
  readonly storedVersions?: readonly string[];
}

/** Condition types of a CustomResourceDefinition. */
export type CrdConditionType =
  | "NamesAccepted"
  | "Established"
  | "Terminating"
  | "NonStructuralSchema"
  | "KubernetesAPIApprovalPolicyConformant";

/** Condition of a CustomResourceDefinition (CustomResourceDefinitionCondition). */
export interface CrdCondition {
  readonly type: CrdConditionType;
  readonly status: "True" | "False" | "Unknown";
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Finalizer that keeps a deleted CustomResourceDefinition until its objects are gone. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

/** Returns the condition of a type; `undefined` if it is missing. */
export function conditionOf(status: CrdStatus | undefined, type: CrdConditionType): CrdCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** Reports whether a condition is `True`. */
export function hasCondition(status: CrdStatus | undefined, type: CrdConditionType): boolean {
  return conditionOf(status, type)?.status === "True";
}

/** Returns a status with the condition replaced; the transition time changes only when the condition's status does. */
export function withCondition(status: CrdStatus, condition: CrdCondition, now: Date): CrdStatus {
  const { conditions = [] } = status;
  const old = conditionOf(status, condition.type);
  const same = old !== undefined && old.status === condition.status && old.lastTransitionTime !== undefined;
  const next = { ...condition, lastTransitionTime: same ? old.lastTransitionTime : formatTime(now) };
  if (old === undefined) return { ...status, conditions: [...conditions, next] };
  return { ...status, conditions: conditions.map((one) => (one === old ? next : one)) };
}

/** Returns a status with the condition replaced, or the same value if the condition is unchanged. */
export function marked(status: CrdStatus, condition: CrdCondition, now: Date): CrdStatus {
  const old = conditionOf(status, condition.type);
  const { reason, message, status: value } = condition;
  const same = old?.status === value && old.reason === reason && old.message === message;
  return same ? status : withCondition(status, condition, now);
}

/** Returns a spec with Kubernetes' defaults for names and conversion. */
export function withDefaults(spec: CrdSpec): CrdSpec {
  const { names, conversion = { strategy: "None" } } = spec;
  const { kind, singular = kind.toLowerCase(), listKind = kind === "" ? undefined : `${kind}List` } = names;
  const named = { ...names, ...(singular !== "" && { singular }), ...(listKind !== undefined && { listKind }) };
  return { ...spec, names: named, conversion };
}

/** Returns the status of a new definition. */
export function initialStatus(spec: CrdSpec): CrdStatus {
  return withStorageVersion({ conditions: [], acceptedNames: { plural: "", kind: "" } }, spec);
}

/** Returns a status that lists the current storage version. */
export function withStorageVersion(status: CrdStatus, { versions }: CrdSpec): CrdStatus {
  const { storedVersions = [] } = status;
  const stored = versions.find(({ storage }) => storage);
  if (stored === undefined || storedVersions.includes(stored.name)) return status;
  return { ...status, storedVersions: [...storedVersions, stored.name] };
}

/** Annotation with the approval of a kind in one of Kubernetes' own groups, or the reason for its absence. */
const APPROVED_ANNOTATION = "api-approved.kubernetes.io";

const SEE = "see https://github.com/kubernetes/enhancements/pull/1111";

/** State of the annotation (apihelpers' APIApprovalState), with Kubernetes' message. */
interface Approval {
  readonly state: "Approved" | "Unapproved" | "Missing" | "Invalid";
  readonly message: string;
}

/** Reports whether a group belongs to the Kubernetes community, so that its kinds need approval. */
export function isProtectedGroup(group: string): boolean {
  return /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group);
}

export function approvalOf({ metadata }: Pick<KubeObject, "metadata">): Approval {
  const value = metadata.annotations?.[APPROVED_ANNOTATION] ?? "";
  const must = `protected groups must have approval annotation ${quote(APPROVED_ANNOTATION)}`;
  if (value === "") return { state: "Missing", message: `${must}, ${SEE}` };
  if (value.startsWith("unapproved")) return { state: "Unapproved", message: `not approved: ${quote(value)}` };
  if (/^[A-Za-z][-+.A-Za-z0-9]*:\/\/[^/?#\s]/.test(value) && URL.canParse(value))
    return { state: "Approved", message: `approved in ${value}` };
  return { state: "Invalid", message: `${must} with either a URL or a reason starting with "unapproved", ${SEE}` };
}

/** Validates the annotation; an invalid value may stay unchanged. */
export function* approvalProblems(
  group: string,
  object: Pick<KubeObject, "metadata">,
  before: Pick<KubeObject, "metadata"> | undefined,
): Generator<StatusCause, void> {
  if (!isProtectedGroup(group)) return;
  const { state, message } = approvalOf(object);
  if (before !== undefined && approvalOf(before).state === state) return;
  const field = `metadata.annotations[${APPROVED_ANNOTATION}]`;
  if (state === "Missing") yield fieldRequired(field, message);
  if (state === "Invalid") yield fieldInvalid(field, object.metadata.annotations?.[APPROVED_ANNOTATION], message);
}
