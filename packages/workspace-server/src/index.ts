/**
 * The embedded workspace server: logical clusters with kinds of their own.
 *
 * @module
 */

export { admitCrd } from "./crds/admit.ts";
export { CrdController, type CrdControllerOptions } from "./crds/controller/controller.ts";
export {
  CLEANUP_FINALIZER,
  type CrdColumn,
  type CrdCondition,
  type CrdConditionType,
  type CrdContent,
  type CrdConversion,
  type CrdNames,
  type CrdSelectableField,
  type CrdSpec,
  type CrdStatus,
  type CrdSubresources,
  type CrdVersion,
  type CustomResourceDefinition,
} from "./crds/definition.ts";
export type { TakenNames } from "./crds/naming.ts";
export { type CompiledKind, type CompiledVersion, type KindSource, KindTable } from "./crds/served/kind-table.ts";
export { LiveKind, type LiveKindOptions } from "./crds/served/live-kind.ts";
export { type CrdCollection, CrdStorage } from "./crds/storage.ts";
