/**
 * Server-side apply: field managers and sets of fields.
 *
 * @module
 */

export { type ConfigurationMerge, mergeConfiguration } from "../apply/configuration.ts";
export {
  type ExtractOptions,
  FieldManager,
  type FieldManagerOptions,
  type ManagedApply,
  type ManagedUpdate,
} from "../apply/field-manager.ts";
export { FieldSet, type FieldSetChildren, formatFieldsV1, parseFieldsV1 } from "../apply/field-set.ts";
export { keepManagedFieldsTimes } from "../apply/managed-object.ts";
export { managedFieldsOfScale, managedFieldsOfScaled, type ReplicasFields } from "../apply/scale-managers.ts";
export type { VersionsOptions } from "../apply/versions.ts";
