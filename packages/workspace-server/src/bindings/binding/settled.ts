import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import {
  APIBinding,
  clusterOf,
  isConditionTrue,
  READY_CONDITION,
  RESOURCE_BINDINGS_ANNOTATION,
} from "@virtual-workspaces/kcp";
import type { ShardState } from "../../state/shard-state.ts";
import type { ClaimIndex } from "../claims/claim-index.ts";
import type { Exports } from "../exports/exports.ts";
import type { BoundCrds } from "../served/bound-crds.ts";
import { CLAIMS_APPLIED, CLAIMS_VALID, EXPORT_VALID, INITIAL_BINDING, UP_TO_DATE } from "./draft.ts";
import { lockKey } from "./locks.ts";

/** What is looked at. */
export interface SettledOptions {
  readonly state: ShardState;
  readonly exports: Exports;
  readonly boundCrds: BoundCrds;
  readonly claims: ClaimIndex;
}

const CONDITIONS = [READY_CONDITION, EXPORT_VALID, INITIAL_BINDING, UP_TO_DATE, CLAIMS_VALID, CLAIMS_APPLIED];

/**
 * Whether a pass would leave a binding as it is, by what is followed alone. So it is with most of the bindings of a server
 * that starts, two for each workspace: nothing is read or written for them. Of bindings with claims it is not said.
 */
export function isSettled(binding: APIBinding, key: ObjectKey, options: SettledOptions): boolean {
  const { metadata, spec, status } = binding;
  const { state, exports, boundCrds, claims } = options;
  const found = exports.of(binding);
  if (metadata.deletionTimestamp !== undefined || status?.phase !== "Bound" || found === undefined) return false;
  if (!CONDITIONS.every((type) => isConditionTrue(status.conditions, type))) return false;
  const there = clusterOf(found);
  if (status.apiExportClusterName !== there) return false;
  const claimed = [
    spec.permissionClaims,
    found.spec?.permissionClaims,
    status.exportPermissionClaims,
    status.appliedPermissionClaims,
  ];
  if (claimed.some((list = []) => list.length > 0)) return false;
  const locks = state.logicalCluster(key.cluster)?.metadata.annotations?.[RESOURCE_BINDINGS_ANNOTATION] ?? "";
  const own = JSON.stringify({ n: key.name });
  for (const { group, name, schema, storage } of found.spec?.resources ?? []) {
    const bound = status.boundResources?.find((one) => one.group === group && one.resource === name);
    const uid = exports.schema(there, schema)?.metadata.uid;
    if (bound === undefined || uid === undefined || storage?.virtual !== undefined) return false;
    const { name: boundAs, UID, identityHash } = bound.schema;
    if (boundAs !== schema || UID !== uid || identityHash !== found.status?.identityHash) return false;
    if (boundCrds.get(uid) === undefined) return false;
    if (!locks.includes(`${JSON.stringify(lockKey({ group, resource: name }))}:${own}`)) return false;
  }
  const resource = { group: APIBinding.group, resource: APIBinding.plural };
  return claims.corrected({ resource, key, labels: metadata.labels }) === metadata.labels;
}
