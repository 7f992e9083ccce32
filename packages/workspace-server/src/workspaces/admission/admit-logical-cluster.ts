import { isDeepStrictEqual } from "node:util";
import { fieldInvalid, formatCause } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import type { LogicalCluster, LogicalClusterPhase } from "@virtual-workspaces/kcp";
import {
  LOGICAL_CLUSTER_DELETION_FINALIZER,
  LOGICAL_CLUSTER_SHARD_ANNOTATION,
  PATH_ANNOTATION,
  WORKSPACE_TYPE_ANNOTATION,
} from "@virtual-workspaces/kcp/names";
import {
  BOOTSTRAPPER_GROUP,
  EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  LOGICAL_CLUSTER_ADMIN_GROUP,
  MASTERS_GROUP,
} from "@virtual-workspaces/kcp/users";
import { isInactive } from "../../state/unavailable.ts";
import { beginsInitializing, phaseOf, withHolders } from "../model/phases.ts";
import { isPrivileged, refused } from "./admission-context.ts";

/** Users and groups that manage logical clusters on behalf of others. */
const EXEMPT = [
  MASTERS_GROUP,
  LOGICAL_CLUSTER_ADMIN_GROUP,
  EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  BOOTSTRAPPER_GROUP,
] as const;

/**
 * Admits writes of LogicalClusters (kcp's plugins `core.kcp.io/LogicalCluster` and
 * `core.kcp.io/LogicalClusterDeletionFinalizer`). Users cannot create them, and delete them only if `directlyDeletable`;
 * their lifecycle only goes forward.
 */
export function admitLogicalCluster(): Admit<LogicalCluster> {
  return (request) => {
    const { operation, object, oldObject } = request;
    const about = request as unknown as AdmitRequest;
    const exempt = EXEMPT.some((group) => request.user.in(group));
    if (operation === "DELETE") {
      if (!exempt && oldObject?.spec.directlyDeletable !== true)
        throw refused(about, "LogicalCluster cannot be deleted");
      return undefined;
    }
    if (object === undefined) return undefined;
    request.validate((next) => {
      if (operation === "CREATE" && !exempt) throw refused(about, "LogicalCluster cannot be created");
      if (oldObject === undefined) return;
      checkFinalizer(next, oldObject, about);
      if (!exempt) checkLogicalClusterUpdate({ object: next, oldObject }, about);
    });
    return filledIn(object, oldObject);
  };
}

function filledIn(object: LogicalCluster, before: LogicalCluster | undefined): LogicalCluster {
  const begun = before !== undefined && beginsInitializing(object, before) ? withHolders(object) : object;
  const { finalizers = [], deletionTimestamp } = begun.metadata;
  if (deletionTimestamp !== undefined || finalizers.includes(LOGICAL_CLUSTER_DELETION_FINALIZER)) return begun;
  return { ...begun, metadata: { ...begun.metadata, finalizers: [...finalizers, LOGICAL_CLUSTER_DELETION_FINALIZER] } };
}

function checkFinalizer(object: LogicalCluster, before: LogicalCluster, request: AdmitRequest): void {
  if (before.metadata.deletionTimestamp === undefined || isPrivileged(request)) return;
  const has = ({ metadata }: LogicalCluster): boolean =>
    metadata.finalizers?.includes(LOGICAL_CLUSTER_DELETION_FINALIZER) === true;
  if (has(before) && !has(object))
    throw refused(request, `removing the finalizer ${LOGICAL_CLUSTER_DELETION_FINALIZER} is forbidden`);
}

/** A change of a LogicalCluster. */
interface LogicalClusterChange {
  readonly object: LogicalCluster;
  readonly oldObject: LogicalCluster;
}

/** Order of phases; all others come before these, as in kcp. */
const WAY: readonly LogicalClusterPhase[] = ["Scheduling", "Initializing", "Ready"];

/** Annotations that determine a logical cluster's path and owner. Security: more than kcp protects. */
const FIXED_ANNOTATIONS = [PATH_ANNOTATION, WORKSPACE_TYPE_ANNOTATION, LOGICAL_CLUSTER_SHARD_ANNOTATION] as const;

/** Rejects changes that users may not make. @throws ApiError 403 */
function checkLogicalClusterUpdate(change: LogicalClusterChange, request: AdmitRequest): void {
  const { object, oldObject } = change;
  for (const field of ["createdBy", "owner"] as const) {
    const value = object.spec[field];
    if (!isDeepStrictEqual(value, oldObject.spec[field])) throw refused(request, immutable(`spec.${field}`, value));
  }
  for (const key of FIXED_ANNOTATIONS) {
    const value = object.metadata.annotations?.[key];
    if (value !== oldObject.metadata.annotations?.[key])
      throw refused(request, immutable(`metadata.annotations[${key}]`, value));
  }
  checkInitializers(change, request);
  checkPhase(change, request);
}

function checkInitializers({ object, oldObject }: LogicalClusterChange, request: AdmitRequest): void {
  const wanted = new Set(object.spec.initializers);
  const before = new Set(oldObject.status?.initializers);
  const now = new Set(object.status?.initializers);
  const initializing = phaseOf(object) === "Initializing";
  const begins = beginsInitializing(object, oldObject);
  if (!areEqual(wanted, new Set(oldObject.spec.initializers))) throw refused(request, "spec.initializers is immutable");
  if (begins && !areEqual(wanted, now)) throw refused(request, "status.initializers do not equal spec.initializers");
  if (initializing && !begins && [...now].some((member) => !before.has(member)))
    throw refused(request, "status.initializers must not grow");
  if (!initializing && !areEqual(before, now))
    throw refused(request, "status.initializers is immutable after initialization");
  if (!initializing && phaseOf(oldObject) === "Initializing" && now.size > 0)
    throw refused(request, "status.initializers is not empty");
}

function checkPhase({ object, oldObject }: LogicalClusterChange, request: AdmitRequest): void {
  const [before, now] = [phaseOf(oldObject), phaseOf(object)];
  if (WAY.indexOf(before) > WAY.indexOf(now)) {
    throw refused(request, `cannot transition from ${JSON.stringify(before)} to ${JSON.stringify(now)}`);
  }
  if (now !== "Ready" && isInactive(object) && !isInactive(oldObject)) {
    throw refused(request, `LogicalCluster can only be marked inactive in phase "Ready", but is in phase "${now}"`);
  }
}

function areEqual(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((member) => other.has(member));
}

function immutable(field: string, value: unknown): string {
  return formatCause(fieldInvalid(field, value ?? null, "field is immutable"));
}
