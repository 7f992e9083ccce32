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

/** What a CustomResourceDefinition holds besides its metadata (apiextensions.k8s.io/v1). */
export interface CrdContent {
  readonly spec: CrdSpec;
  readonly status?: CrdStatus;
}

/** An object of the kind CustomResourceDefinition. */
export type CustomResourceDefinition = ObjectOf<CrdContent>;

/** What is wanted: a kind, its names and its versions (CustomResourceDefinitionSpec). */
export interface CrdSpec {
  readonly group: string;
  readonly names: CrdNames;
  readonly scope: "Cluster" | "Namespaced";
  readonly versions: readonly CrdVersion[];
  readonly conversion?: CrdConversion;
  readonly preserveUnknownFields?: boolean;
}

/** The names of a kind (CustomResourceDefinitionNames). */
export interface CrdNames {
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
}

/** A version of a kind (CustomResourceDefinitionVersion). */
export interface CrdVersion {
  readonly name: string;
  /** Whether clients are answered in it. */
  readonly served: boolean;
  /** Whether objects are kept in it: exactly one is. */
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: CrdSubresources;
  readonly additionalPrinterColumns?: readonly CrdColumn[];
  readonly selectableFields?: readonly CrdSelectableField[];
}

/** Which subresources a version has (CustomResourceSubresources). */
export interface CrdSubresources {
  readonly status?: object;
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath?: string;
  };
}

/** A column of tables (CustomResourceColumnDefinition). */
export interface CrdColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

/** A field that field selectors may name. */
export interface CrdSelectableField {
  readonly jsonPath: string;
}

/** How objects become others of another version. Only `None` is served. */
export interface CrdConversion {
  readonly strategy: string;
  readonly webhook?: object;
}

/** What has become of it (CustomResourceDefinitionStatus). */
export interface CrdStatus {
  readonly conditions?: readonly CrdCondition[];
  /** Under which it is served. */
  readonly acceptedNames?: CrdNames;
  /** In which objects may be kept. */
  readonly storedVersions?: readonly string[];
}

/** The conditions that a CustomResourceDefinition can have. */
export type CrdConditionType =
  | "NamesAccepted"
  | "Established"
  | "Terminating"
  | "NonStructuralSchema"
  | "KubernetesAPIApprovalPolicyConformant";

/** CustomResourceDefinitionCondition */
export interface CrdCondition {
  readonly type: CrdConditionType;
  readonly status: "True" | "False" | "Unknown";
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Holds a deleted CustomResourceDefinition until its objects are gone. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

/** The condition of a type, if there is one. */
export function conditionOf(status: CrdStatus | undefined, type: CrdConditionType): CrdCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** Whether a condition is there and `True`. */
export function hasCondition(status: CrdStatus | undefined, type: CrdConditionType): boolean {
  return conditionOf(status, type)?.status === "True";
}

/** A status with a condition in the place of the one of its type; its time moves when its status does. */
export function withCondition(status: CrdStatus, condition: CrdCondition, now: Date): CrdStatus {
  const { conditions = [] } = status;
  const old = conditionOf(status, condition.type);
  const same = old !== undefined && old.status === condition.status && old.lastTransitionTime !== undefined;
  const next = { ...condition, lastTransitionTime: same ? old.lastTransitionTime : formatTime(now) };
  if (old === undefined) return { ...status, conditions: [...conditions, next] };
  return { ...status, conditions: conditions.map((one) => (one === old ? next : one)) };
}

/** The same, unless it says so already. */
export function marked(status: CrdStatus, condition: CrdCondition, now: Date): CrdStatus {
  const old = conditionOf(status, condition.type);
  const { reason, message, status: value } = condition;
  const same = old?.status === value && old.reason === reason && old.message === message;
  return same ? status : withCondition(status, condition, now);
}

/** A spec with the names and the conversion that Kubernetes gives one that says nothing of them. */
export function withDefaults(spec: CrdSpec): CrdSpec {
  const { names, conversion = { strategy: "None" } } = spec;
  const { kind, singular = kind.toLowerCase(), listKind = kind === "" ? undefined : `${kind}List` } = names;
  const named = { ...names, ...(singular !== "" && { singular }), ...(listKind !== undefined && { listKind }) };
  return { ...spec, names: named, conversion };
}

/** The status that a new one begins with. */
export function initialStatus(spec: CrdSpec): CrdStatus {
  return withStorageVersion({ conditions: [], acceptedNames: { plural: "", kind: "" } }, spec);
}

/** A status that tells of the version in which objects are kept from now on. */
export function withStorageVersion(status: CrdStatus, { versions }: CrdSpec): CrdStatus {
  const { storedVersions = [] } = status;
  const stored = versions.find(({ storage }) => storage);
  if (stored === undefined || storedVersions.includes(stored.name)) return status;
  return { ...status, storedVersions: [...storedVersions, stored.name] };
}

/** Says where a kind in one of Kubernetes' own groups was approved, or that it was not. */
const APPROVED_ANNOTATION = "api-approved.kubernetes.io";

const SEE = "see https://github.com/kubernetes/enhancements/pull/1111";

/** What the annotation comes to (apihelpers' APIApprovalState), with the reason in Kubernetes' words. */
interface Approval {
  readonly state: "Approved" | "Unapproved" | "Missing" | "Invalid";
  readonly message: string;
}

/** Whether a group is the Kubernetes community's own, whose kinds have to be approved. */
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

/** What is wrong with the annotation; what was wrong before may stay so. */
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
