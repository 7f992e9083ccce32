import { API_BINDINGS_INITIALIZER, clusterOf, type LogicalCluster, ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import { UNIVERSAL_BINDINGS } from "../../bootstrap/root-objects.ts";
import { UNIVERSAL_INITIALIZER } from "../../workspaces/model/holders.ts";
import type { Exports } from "../exports/exports.ts";
import type { DefaultExport } from "./wanted.ts";

/** On logical clusters of other types that have been given what they had before. */
export const GIVEN_ANNOTATION = "virtual-workspaces.io/universal-bindings-given";

/** What the type `universal` binds: every workspace had it, whatever its type, before it came by exports. */
export const ONCE_EVERYWHERE: readonly DefaultExport[] = UNIVERSAL_BINDINGS.map(({ path, export: name }) => ({
  path,
  name,
}));

/** Of the type `universal` or one that extends it. */
export function isUniversal({ spec }: LogicalCluster): boolean {
  return spec.initializers?.includes(UNIVERSAL_INITIALIZER) === true;
}

/**
 * Whether a workspace was made before there were exports in `root`, and has not been given what they bring. One of `universal`
 * has the initializer as soon as it has; of another type, which need not bind anything, its age says it, and a mark that it
 * was given: whoever deletes the bindings then is not given them again.
 */
export function isOlder(there: LogicalCluster, exports: Exports): boolean {
  const { metadata, spec } = there;
  if (isUniversal(there)) return spec.initializers?.includes(API_BINDINGS_INITIALIZER) !== true;
  const cluster = clusterOf(there);
  if (cluster === ROOT_CLUSTER || metadata.annotations?.[GIVEN_ANNOTATION] !== undefined) return false;
  const { creationTimestamp: made } = metadata;
  return ONCE_EVERYWHERE.some((each) => {
    const { creationTimestamp: since } = exports.find(each, cluster)?.metadata ?? {};
    return typeof made === "string" && typeof since === "string" && made < since;
  });
}
