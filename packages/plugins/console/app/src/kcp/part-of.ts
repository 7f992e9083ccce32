import type { ResourceId } from "../api/base.ts";

/** Parts that the page of an object has for kinds of kcp. */
export type KcpPartName = "export" | "binding" | "type" | "shard" | "urls";

const PARTS: Readonly<Record<string, KcpPartName>> = {
  "apiexports.apis.kcp.io": "export",
  "apibindings.apis.kcp.io": "binding",
  "workspacetypes.tenancy.kcp.io": "type",
  "shards.core.kcp.io": "shard",
  "apiexportendpointslices.apis.kcp.io": "urls",
  "clustercachedresourceendpointslices.cache.kcp.io": "urls",
  "workspaces.tenancy.kcp.io": "urls",
  "logicalclusters.core.kcp.io": "urls",
  "mounts.proxy.kcp.io": "urls",
};

/** The part that the page of an object of this resource has, in addition to the usual ones. */
export const kcpPartOf = ({ group, resource }: ResourceId): KcpPartName | undefined => PARTS[`${resource}.${group}`];
