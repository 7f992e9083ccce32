/**
 * Vocabulary of Kubernetes: the data that API servers and clients exchange, as values and types. Pure: no I/O, no
 * dependencies, nothing of Node.js.
 *
 * @module
 */

export { isJsonObject, type JsonObject } from "./json/value.ts";
export {
  ApiError,
  type ForbiddenOptions,
  type ForbiddenRequest,
  forbiddenFor,
  type InvalidOptions,
  isApiError,
  toApiError,
} from "./meta/api-error.ts";
export {
  boundedCauses,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  fieldTypeInvalid,
  formatCause,
  formatCauses,
  OMITTED_VALUE,
} from "./meta/field-cause.ts";
export {
  baseName,
  CLUSTER_ANNOTATION,
  isClusterName,
  isWorkspacePath,
  joinWorkspacePath,
  parentPath,
  splitWorkspacePath,
  WILDCARD,
} from "./meta/logical-cluster.ts";
export {
  dnsLabelProblems,
  labelKeyProblems,
  labelValueProblems,
  nameProblems,
  pathSegmentProblems,
  pluralOf,
} from "./meta/names.ts";
export { normalizeMetadata } from "./meta/normalize.ts";
export {
  FOREGROUND_FINALIZER,
  finalizerWarnings,
  type ObjectMetaRules,
  ORPHAN_FINALIZER,
  objectMetaProblems,
  objectMetaUpdateProblems,
  parseApiVersion,
} from "./meta/object-meta.ts";
export {
  type CauseType,
  isErrorCode,
  type KnownReason,
  type Status,
  type StatusCause,
  type StatusDetails,
  type StatusReason,
  statusFrom,
  statusReasons,
  type UnsaidStatus,
} from "./meta/status.ts";
export {
  apiVersionOf,
  formatGroupKind,
  formatGroupResource,
  type GroupKind,
  type GroupResource,
  type GroupVersion,
  type GroupVersionKind,
  type GroupVersionResource,
  type KindReference,
  type KubeObject,
  type ListMeta,
  type ManagedFieldsEntry,
  type ObjectKey,
  type ObjectMeta,
  type ObjectOf,
  type OwnerReference,
  type SpecOf,
  type StoredObject,
} from "./meta/types.ts";
export type { CheckedSchema, FromSchema, JsonSchema, UnknownKeyword, ValidationRule } from "./schema.ts";
export { quote } from "./text/go-format.ts";
export { nearest } from "./text/nearest.ts";
export { formatTime, humanDuration, parseDuration } from "./text/time.ts";
