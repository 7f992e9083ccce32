/**
 * The vocabulary of Kubernetes: what its API servers and clients say to each other, as values and types. Pure: no I/O,
 * no dependencies, nothing of Node.
 *
 * @module
 */

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
} from "./aggregated-discovery.ts";
// Errors
export { ApiError, type ForbiddenOptions, type InvalidOptions, isApiError, toApiError } from "./api-error.ts";
// Objects and their names
export { parseApiVersion } from "./api-version.ts";
// Server-side apply
export {
  type ExtractOptions,
  FieldManager,
  type FieldManagerOptions,
  type ManagedApply,
  type ManagedUpdate,
} from "./apply/field-manager.ts";
export { FieldSet, type FieldSetChildren } from "./apply/field-set.ts";
export { formatFieldsV1, parseFieldsV1 } from "./apply/fields-v1.ts";
export { keepManagedFieldsTimes } from "./apply/managed-object.ts";
export { managedFieldsOfScale, managedFieldsOfScaled, type ReplicasFields } from "./apply/scale-managers.ts";
export type { VersionsOptions } from "./apply/versions.ts";
// Errors
export { boundedCauses } from "./bounded-causes.ts";
// Schemas
export type { CheckedSchema } from "./checked-schema.ts";
// Lists and watches
export { type ContinueToken, decodeContinue, encodeContinue } from "./continue-token.ts";
export type { DiscoveredResource, DiscoveredSubresource, GroupOrder } from "./discovered-resource.ts";
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
} from "./discovery.ts";
export {
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
} from "./field-cause.ts";
export { type ForbiddenRequest, forbiddenFor } from "./forbidden.ts";
export type { FromSchema } from "./from-schema.ts";
// Tables
export { humanDuration } from "./human-duration.ts";
// JSON
export { compareUtf8 } from "./json/order.ts";
export { MAX_JSON_DEPTH, type ParsedJson, parseJson, parseOwnJson, stringifyJson } from "./json/parse.ts";
export type { JsonLimits } from "./json/scan.ts";
export { cloneJson, equalJson, isJsonObject, type JsonObject, memberOf, setMember } from "./json/value.ts";
export { compileJsonPath } from "./jsonpath.ts";
export { type ListOptions, parseListOptions, type ResourceVersionMatch, withListDefaults } from "./list-options.ts";
export { validateListOptions } from "./list-validation.ts";
// Logical clusters
export {
  baseName,
  CLUSTER_ANNOTATION,
  isClusterName,
  isWorkspacePath,
  joinWorkspacePath,
  parentPath,
  splitWorkspacePath,
  WILDCARD,
} from "./logical-cluster.ts";
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
} from "./meta.ts";
export {
  dnsLabelProblems,
  labelKeyProblems,
  labelValueProblems,
  nameProblems,
  pathSegmentProblems,
  pluralOf,
} from "./names.ts";
// Patches
export { applyJsonPatch } from "./patch/json-patch.ts";
export { unknownJsonPatchFields } from "./patch/json-patch-operation.ts";
export { applyMergePatch } from "./patch/merge-patch.ts";
export { applyStrategicMergePatch } from "./patch/strategic/apply.ts";
export { hasPatchStrategy } from "./patch/strategic/field.ts";
export { quote } from "./quote.ts";
export { compareResourceVersions, isResourceVersion } from "./resource-version.ts";
export type { JsonSchema, ValidationRule } from "./schema.ts";
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
export {
  type CauseType,
  type KnownReason,
  type Status,
  type StatusCause,
  type StatusDetails,
  type StatusReason,
  statusReasons,
} from "./status.ts";
export { type DefaultRuleSites, type DefaultRuleSitesOptions, defaultRuleSites } from "./structural/default-sites.ts";
// Structural schemas
export { type FieldPathOptions, resolveFieldPath, type SchemaField } from "./structural/field-path.ts";
export { isRecognizedFormat } from "./structural/formats.ts";
export type { PatternCompiler } from "./structural/node.ts";
export { type StructuralProblemsOptions, structuralProblems } from "./structural/problems/structural-problems.ts";
export { type RuleSite, ruleField } from "./structural/rules.ts";
export { ruleSites, type StaticRuleSite } from "./structural/static-rules.ts";
export {
  type CompileOptions,
  compileSchema,
  StructuralSchema,
} from "./structural/structural-schema.ts";
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
} from "./table.ts";
export type { TableColumnType } from "./table-cell.ts";
export { formatTime } from "./time.ts";
export { isErrorCode, statusFrom, type UnsaidStatus } from "./told-status.ts";
export { compareVersionPriority } from "./version-priority.ts";
export {
  type BookmarkOptions,
  bookmarkObject,
  INITIAL_EVENTS_END,
  type WatchEvent,
  type WatchEventType,
} from "./watch.ts";
// Writes
export {
  type DeleteQuery,
  type Preconditions,
  type PropagationPolicy,
  parseDeleteOptions,
} from "./write/delete-options.ts";
export { normalizeMetadata } from "./write/metadata.ts";
export {
  FOREGROUND_FINALIZER,
  finalizerWarnings,
  type ObjectMetaRules,
  ORPHAN_FINALIZER,
  objectMetaProblems,
  objectMetaUpdateProblems,
} from "./write/object-meta.ts";
export {
  type FieldValidation,
  managerOf,
  parseWriteOptions,
  type WriteQuery,
  type WriteQueryRules,
} from "./write/options.ts";
