import type { GroupResource } from "@virtual-workspaces/apimachinery";
import {
  type APIExport,
  CACHE_GROUP,
  type ClusterCachedResource,
  ClusterCachedResourceEndpointSlice,
  clusterOf,
  type ClusterCachedResourceEndpointSlice as Slice,
  viewURL,
} from "@virtual-workspaces/kcp";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { follow } from "../../controllers/sources.ts";
import type { ShardContext } from "../../state/context.ts";
import type { SliceKind, SliceReferences } from "../exports/endpoint-slices.ts";
import { type Exports, exportText, placeOf } from "../exports/exports.ts";
import { cachedResourceOf, resourceText } from "./cached-kinds.ts";

/** Returns the ClusterCachedResource of a reference, on any shard. */
export function findCachedResource(
  { name: own, registry }: Pick<ShardContext, "name" | "registry">,
  key: string,
): ClusterCachedResource | undefined {
  const shards = registry.shards.toSorted((one, other) => Number(other.name === own) - Number(one.name === own));
  for (const { state } of shards) {
    const [found] = state.cachedResources.store.by("place", key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Returns the slices of ClusterCachedResources (kcp's `kcp-clustercachedresourceendpointslice`): URLs of the replication view for
 * the consumers of an export.
 */
export function cachedResourceSlices(shard: ShardContext, exports: Exports): SliceKind {
  const { cachedResourceSlices: informer } = shard.state;
  return {
    name: "clustercachedresourceendpointslice",
    resource: ClusterCachedResourceEndpointSlice as never,
    informer: informer as never,
    check: (slice, cluster) => checked(slice as Slice, cluster, { shard, exports }),
    urlAt: (url, { cluster, name }) => viewURL(url, "replication", cluster, name),
    follow: ({ state }, add) =>
      follow(
        state.cachedResources,
        ({ metadata }, { cluster, name }) => {
          for (const place of new Set([cluster, metadata.annotations?.[PATH_ANNOTATION] ?? cluster]))
            for (const key of informer.store.keysBy("cached", `${place}:${name}`)) add(key);
        },
        ({ metadata, spec, status }) => [
          ...[metadata.uid, metadata.annotations?.[PATH_ANNOTATION], spec.group, spec.resource, status?.identityHash],
        ],
      ),
  };
}

interface Checking {
  readonly shard: ShardContext;
  readonly exports: Exports;
}

const RESOURCE_VALID = "ResourceValid";
const EXPORT_VALID = "APIExportValid";

function checked(
  { spec, metadata }: Slice,
  cluster: string,
  { shard, exports }: Checking,
): SliceReferences | undefined {
  const reference = spec?.clusterCachedResource;
  const place = reference && `${placeOf(reference, cluster)}:${reference.name}`;
  const cached = place && findCachedResource(shard, place);
  if (!cached) {
    if (exports.missing.length > 0) return undefined;
    const message = `Error getting ClusterCachedResource ${reference === undefined ? "" : exportText(reference, cluster)}`;
    return { holds: [], fault: { type: RESOURCE_VALID, reason: "ClusterCachedResourceNotFound", message } };
  }
  const holds = [RESOURCE_VALID];
  const found = spec && exports.find(spec.export, cluster);
  if (found === undefined && exports.missing.length > 0) return undefined;
  const named = `APIExport ${spec === undefined ? "" : exportText(spec.export, cluster)}`;
  const why =
    found === undefined ? "not found" : refusal(found, { cached, at: { cluster, name: metadata.name ?? "" } });
  if (found !== undefined && why === undefined) return { holds: [...holds, EXPORT_VALID], found };
  const fault = { type: EXPORT_VALID, reason: "APIExportInvalidReference", message: `${named} ${why}` };
  return { holds, fault };
}

interface Referred {
  readonly cached: ClusterCachedResource;
  readonly at: { readonly cluster: string; readonly name: string };
}

/**
 * Returns why the consumers of an export do not get the objects. Security: an export shows a ClusterCachedResource only under its
 * identity and resource, and refers to slices in its own workspace only.
 */
function refusal(found: APIExport, { cached, at }: Referred): string | undefined {
  const entries = (found.spec?.resources ?? []).filter(({ storage }) => {
    const { apiGroup, kind, name } = storage?.virtual?.reference ?? {};
    return apiGroup === CACHE_GROUP && kind === ClusterCachedResourceEndpointSlice.kind && name === at.name;
  });
  if (entries.length === 0 || clusterOf(found) !== at.cluster)
    return "does not reference this ClusterCachedResourceEndpointSlice";
  const resource: GroupResource = cachedResourceOf(cached);
  const [entry] = entries.filter(({ group, name }) => group === resource.group && name === resource.resource);
  const text = resourceText(resource);
  if (entry === undefined)
    return `references this ClusterCachedResourceEndpointSlice for another resource: its ClusterCachedResource has ${text}`;
  if (cached.status?.identityHash !== entry.storage?.virtual?.identityHash)
    return `has another storage.virtual.identityHash for ${text} than the status of the ClusterCachedResource`;
  return undefined;
}
