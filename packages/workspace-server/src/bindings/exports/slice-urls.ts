import { isApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { type LabelSelectorObject, labelSelectorFromObject } from "@virtual-workspaces/apimachinery/selectors";
import { type APIExport, appliedURLs, clusterOf, type Partition } from "@virtual-workspaces/kcp";
import type { Condition } from "@virtual-workspaces/kcp/conditions";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { ShardPeer } from "../../state/shard-peer.ts";
import { type ExportReference, publishedShards } from "./exports.ts";

/** An endpoint slice of any kind: the URLs of a view, one for each shard. */
export interface EndpointSlice extends KubeObject {
  spec?: { readonly export: ExportReference; readonly partition?: string | undefined };
  status?: SliceStatus;
}

export interface SliceStatus {
  conditions?: Condition[];
  endpoints?: { url: string }[];
  shardSelector?: string;
}

/** Invalid reference, for a condition. */
export interface Fault {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** Returns the shards of a partition; without one, all. */
export function partitionSelector(
  name: string,
  find: (name: string) => Partition | undefined,
): LabelSelectorObject | Fault {
  if (name === "") return {};
  const found = find(name);
  const fault = { type: "PartitionValid", reason: "PartitionInvalidReference" } as const;
  if (found === undefined) return { ...fault, message: `partition.topology.kcp.io ${JSON.stringify(name)} not found` };
  const selector = (found.spec?.selector ?? {}) as LabelSelectorObject;
  try {
    labelSelectorFromObject(selector);
    return selector;
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { ...fault, message: error.message };
  }
}

/** Export whose consumers use the URLs, with the selector of shards. */
export interface Publication {
  readonly found: APIExport;
  readonly selector: LabelSelectorObject;
  readonly shards: readonly ShardPeer[];
  /** Returns the URL of the view, on a shard with this view URL. */
  readonly urlAt: (virtualWorkspaceURL: string) => string;
}

/** Writes the URLs of the shards with bindings to the export. */
export function publish(
  status: SliceStatus,
  slice: EndpointSlice,
  { found, selector, shards, urlAt }: Publication,
): void {
  const [cluster, name] = [clusterOf(found), found.metadata.name ?? ""];
  const places = [...new Set([cluster, pathOf(found, cluster)])];
  const matches = labelSelectorFromObject(selector);
  const had = new Set(status.endpoints?.map(({ url }) => url));
  const urls = publishedShards(shards).flatMap(({ virtualWorkspaceURL, labels, context }) => {
    const url = virtualWorkspaceURL === "" ? "" : urlAt(virtualWorkspaceURL);
    const own = url === "" ? [] : [url];
    const kept = had.has(url) ? own : [];
    // A shard that does not run at the moment keeps its URL.
    if (context === undefined) return kept;
    const bound = places.some((place) => context.state.apiBindings.store.countBy("export", `${place}:${name}`) > 0);
    // A shard outside the partition neither publishes nor removes its URL.
    return bound ? (matches.matches(labels) ? own : kept) : [];
  });
  setEndpoints(status, slice, urls);
}

/** Sets the server's endpoints in sorted order, and keeps those that others have applied. */
export function setEndpoints(status: SliceStatus, slice: EndpointSlice, urls: readonly string[]): void {
  const applied = appliedURLs(slice, "endpoints");
  const others = status.endpoints?.filter(({ url }) => applied.has(url)) ?? [];
  const own = urls.filter((url) => !applied.has(url)).map((url) => ({ url }));
  const all = new Map([...others, ...own].map((endpoint) => [endpoint.url, endpoint]));
  if (all.size === 0) delete status.endpoints;
  else status.endpoints = [...all.values()].sort((one, other) => (one.url < other.url ? -1 : 1));
}

/** Returns the path of the workspace of an export. */
export function pathOf({ metadata }: Pick<APIExport, "metadata">, cluster: string): string {
  return metadata.annotations?.[PATH_ANNOTATION] ?? cluster;
}

/** Formats a selector with requirements sorted by key (metav1.LabelSelectorAsSelector). */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): string {
  const requirements = [
    ...Object.entries(matchLabels).map(([key, value]) => [key, `${key}=${value}`] as const),
    ...matchExpressions.map(({ key, operator, values = [] }) => [key, expression(key, operator, values)] as const),
  ];
  return requirements
    .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([, text]) => text)
    .join(",");
}

function expression(key: string, operator: string, values: readonly string[]): string {
  const list = `(${[...values].sort().join(",")})`;
  if (operator === "In") return `${key} in ${list}`;
  if (operator === "NotIn") return `${key} notin ${list}`;
  return operator === "Exists" ? key : `!${key}`;
}
