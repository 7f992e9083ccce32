import { isDeepStrictEqual } from "node:util";
import { fieldInvalid, formatCause, isApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { type LabelSelectorObject, labelSelectorFromObject } from "@virtual-workspaces/apimachinery/selectors";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import {
  CACHE_GROUP,
  type ClusterCachedResource,
  type ClusterCachedResourceEndpointSlice,
  clusterOf,
} from "@virtual-workspaces/kcp";
import type { IsAllowed } from "../../authz/access.ts";
import type { ShardContext } from "../../state/context.ts";
import { forbidden } from "../exports/admit-exports.ts";
import { placeOf } from "../exports/exports.ts";
import { type CachedKinds, cachedResourceOf, resourceText } from "./cached-kinds.ts";
import { findCachedResource } from "./cached-slices.ts";

/** Options of the admission of cached resources. */
export interface AdmitCachedOptions {
  readonly shard: Pick<ShardContext, "name" | "registry" | "state">;
  readonly kinds: CachedKinds;
  readonly isAllowed: IsAllowed;
}

/**
 * Admits ClusterCachedResources (kcp's plugin `cache.kcp.io/ClusterCachedResource`): cluster-scoped resources of users, each once in
 * a workspace. Security: users can cache only what they may list, since an export shows the objects to others. Updates of the
 * resource or the labels need the same right.
 */
export function admitCachedResource(options: AdmitCachedOptions): Admit {
  return (request) => {
    const { object, oldObject, operation, subresource } = request;
    if (operation === "DELETE" || object === undefined || subresource !== "") return;
    request.validate(async (valid) => {
      const next = valid as ClusterCachedResource;
      checkSelector(request, next);
      const before = oldObject as ClusterCachedResource | undefined;
      const isSameResource = before !== undefined && isSame(cachedResourceOf(before), cachedResourceOf(next));
      if (isSameResource && isDeepStrictEqual(before.spec.labelSelector, next.spec.labelSelector)) return;
      if (!isSameResource) checkResource(request, next, options);
      await checkRights(request, next, options);
    });
  };
}

function checkResource(
  request: AdmitRequest,
  next: ClusterCachedResource,
  { shard, kinds }: Pick<AdmitCachedOptions, "shard" | "kinds">,
): void {
  const { cluster = "" } = request.params;
  const cached = cachedResourceOf(next);
  const { group, version, resource } = cached;
  const text = resourceText(cached);
  if (kinds.isBuiltIn(cluster, cached))
    throw invalid(
      request,
      text,
      "built-in resources cannot be cached: use one of a CustomResourceDefinition or APIBinding",
    );
  if (kinds.of(cluster, { ...cached, version: "" })?.definition.scope === "Namespaced")
    throw invalid(request, text, "Resource referenced in ClusterCachedResource must be cluster-scoped");
  const same = shard.state.cachedResources.store
    .by("resource", `${cluster}/${resource}.${group}`)
    .some((one) => one.metadata.name !== next.metadata.name && isSame(cachedResourceOf(one), cached));
  if (same) {
    const detail = `ClusterCachedResource with this GVR already exists in the "${cluster}" workspace`;
    throw invalid(request, `${group}.${version}.${resource}`, detail);
  }
}

async function checkRights(
  request: AdmitRequest,
  next: ClusterCachedResource,
  { isAllowed }: Pick<AdmitCachedOptions, "isAllowed">,
): Promise<void> {
  const { user, params } = request;
  const { cluster = "" } = params;
  const cached = cachedResourceOf(next);
  if (await isAllowed(user, cluster, { verb: "list", ...cached, name: "" })) return;
  const text = resourceText(cached);
  throw forbidden(request, `unable to ${verbOf(request)} ClusterCachedResource: no permission to list ${text}`);
}

function verbOf({ operation }: AdmitRequest): string {
  return operation === "CREATE" ? "create" : "update";
}

function checkSelector(request: AdmitRequest, { spec }: ClusterCachedResource): void {
  try {
    labelSelectorFromObject((spec.labelSelector ?? {}) as LabelSelectorObject);
  } catch (error) {
    if (!isApiError(error)) throw error;
    throw forbidden(request, formatCause(fieldInvalid("spec.labelSelector", spec.labelSelector, error.message)));
  }
}

type Resource = ReturnType<typeof cachedResourceOf>;

function isSame(one: Resource, other: Resource): boolean {
  return one.group === other.group && one.version === other.version && one.resource === other.resource;
}

function invalid(request: AdmitRequest, value: string, detail: string): Error {
  return forbidden(request, formatCause(fieldInvalid("spec", value, detail)));
}

/**
 * Admits ClusterCachedResourceEndpointSlices. Security: for a ClusterCachedResource of another workspace the user needs the verb
 * `bind` on it there. Otherwise every user could read its objects through an export of their own. An update needs it too if the
 * reference changes: the schema lets clients add a missing one.
 */
export function admitCachedSlice({ shard, isAllowed }: AdmitCachedOptions): Admit {
  return (request) => {
    const { object, oldObject, params, user } = request;
    if (object === undefined) return;
    request.validate(async (next) => {
      const reference = referenceOf(next);
      const { cluster = "" } = params;
      if (reference === undefined || isDeepStrictEqual(reference, referenceOf(oldObject))) return;
      const place = placeOf(reference, cluster);
      const there = await clusterAt(shard, place, reference.name);
      if (there === cluster) return;
      const { name } = reference;
      const access = {
        verb: "bind",
        group: CACHE_GROUP,
        version: "v1alpha1",
        resource: "clustercachedresources",
        name,
      };
      if (there !== undefined && (await isAllowed(user, there, access))) return;
      const message = `unable to ${verbOf(request)} ClusterCachedResourceEndpointSlice: no permission to bind to ClusterCachedResource ${place}:${name}`;
      throw forbidden(request, message);
    });
  };
}

function referenceOf(slice: KubeObject | undefined) {
  return (slice as ClusterCachedResourceEndpointSlice | undefined)?.spec?.clusterCachedResource;
}

/** Returns the logical cluster of a place, whether or not it has the ClusterCachedResource. */
async function clusterAt(
  { name: own, registry }: AdmitCachedOptions["shard"],
  place: string,
  name: string,
): Promise<string | undefined> {
  await registry.reach(place);
  const found = findCachedResource({ name: own, registry }, `${place}:${name}`);
  if (found !== undefined) return clusterOf(found as KubeObject);
  try {
    const there = registry.locate(place);
    return typeof there === "string" ? there : undefined;
  } catch (error) {
    if (isApiError(error) && error.code !== 503) return undefined;
    throw error;
  }
}
