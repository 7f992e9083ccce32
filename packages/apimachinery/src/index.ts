/**
 * The vocabulary of Kubernetes: what its API servers and clients say to each other, as values and types. Pure: no I/O,
 * no dependencies, nothing of Node.
 *
 * @module
 */

// Server-side apply
export {
  type ExtractOptions,
  FieldManager,
  type FieldManagerOptions,
  type ManagedApply,
  type ManagedUpdate,
} from "./apply/field-manager.ts";
export { FieldSet, type FieldSetChildren, formatFieldsV1, parseFieldsV1 } from "./apply/field-set.ts";
export { keepManagedFieldsTimes } from "./apply/managed-object.ts";
export { managedFieldsOfScale, managedFieldsOfScaled, type ReplicasFields } from "./apply/scale-managers.ts";
export type { VersionsOptions } from "./apply/versions.ts";
// Discovery
export {
  type AggregatedDiscoveryDocument,
  type AggregatedDiscoveryOptions,
  type AggregatedDiscoveryVersion,
  type ApiGroupDiscovery,
  type ApiResourceDiscovery,
  type ApiSubresourceDiscovery,
  type ApiVersionDiscovery,
  aggregatedDiscoveryDocument,
} from "./discovery/aggregated.ts";
export {
  type ApiGroup,
  type ApiGroupDocument,
  type ApiGroupListDocument,
  type ApiResource,
  type ApiResourceListDocument,
  type ApiVersionsDocument,
  apiGroupDocument,
  apiGroupListDocument,
  apiResourceListDocument,
  apiVersionsDocument,
  type GroupVersionForDiscovery,
  type ServerAddressByClientCidr,
} from "./discovery/documents.ts";
export {
  compareVersionPriority,
  type DiscoveredResource,
  type DiscoveredSubresource,
  type GroupOrder,
} from "./discovery/resources.ts";
// JSON
export { MAX_JSON_DEPTH, type ParsedJson, parseJson, parseOwnJson, stringifyJson } from "./json/parse.ts";
export type { JsonLimits } from "./json/scan.ts";
export { cloneJson, compareUtf8, equalJson, isJsonObject, type JsonObject, memberOf, setMember } from "./json/value.ts";
// Objects, their names, and errors
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
} from "./meta/types.ts";
// Patches
export { applyJsonPatch, unknownJsonPatchFields } from "./patch/json-patch.ts";
export { applyMergePatch } from "./patch/merge-patch.ts";
export { applyStrategicMergePatch } from "./patch/strategic/apply.ts";
export { hasPatchStrategy } from "./patch/strategic/directives.ts";
// Options of requests, pages and watches
export { type ContinueToken, decodeContinue, encodeContinue } from "./requests/continue-token.ts";
export {
  type DeleteQuery,
  type Preconditions,
  type PropagationPolicy,
  parseDeleteOptions,
} from "./requests/delete-options.ts";
export {
  type ListOptions,
  parseListOptions,
  type ResourceVersionMatch,
  validateListOptions,
  withListDefaults,
} from "./requests/list-options.ts";
export {
  type BookmarkOptions,
  bookmarkObject,
  compareResourceVersions,
  INITIAL_EVENTS_END,
  isResourceVersion,
  type WatchEvent,
  type WatchEventType,
} from "./requests/watch.ts";
export {
  type FieldValidation,
  managerOf,
  parseWriteOptions,
  type WriteQuery,
  type WriteQueryRules,
} from "./requests/write-options.ts";
// Schemas
export type { CheckedSchema, FromSchema, JsonSchema, ValidationRule } from "./schema.ts";
// Selectors
export { everyField, type FieldRequirement, FieldSelector, parseFieldSelector } from "./selectors/fields.ts";
export { type LabelOperator, LabelRequirement } from "./selectors/label-requirement.ts";
export {
  everyLabel,
  LabelSelector,
  type LabelSelectorExpression,
  type LabelSelectorObject,
  labelSelectorFromObject,
  parseLabelSelector,
} from "./selectors/labels.ts";
// Structural schemas
export { type FieldPathOptions, resolveFieldPath, type SchemaField } from "./structural/field-path.ts";
export { isRecognizedFormat } from "./structural/formats/formats.ts";
export type { PatternCompiler } from "./structural/node.ts";
export { type StructuralProblemsOptions, structuralProblems } from "./structural/problems/problems.ts";
export {
  type DefaultRuleSites,
  type DefaultRuleSitesOptions,
  defaultRuleSites,
  type RuleSite,
  ruleField,
  ruleSites,
  type StaticRuleSite,
} from "./structural/rules.ts";
export {
  type CompileOptions,
  compileSchema,
  StructuralSchema,
} from "./structural/structural-schema.ts";
// Tables
export { compileJsonPath } from "./tables/jsonpath.ts";
export {
  AGE_COLUMN,
  type ColumnHead,
  type CompiledTable,
  type ComputedColumn,
  compileTable,
  isComputed,
  type PathColumn,
  type TableColumn,
  type TableColumnDefinition,
  type TableColumnType,
} from "./tables/table.ts";
// Texts as Go writes them
export { quote } from "./text/go-format.ts";
export { formatTime, humanDuration } from "./text/time.ts";
