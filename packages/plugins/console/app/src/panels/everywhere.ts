import type { Parameters } from "../api/base.ts";
import { queryPath, type ResourceId, resourcePath, workspacePath } from "../api/base.ts";
import { type LiveList, liveList, liveNames } from "../api/live-list.ts";
import { clusterOf, type KubernetesObject } from "../api/types.ts";

const CRDS = { group: "apiextensions.k8s.io", version: "v1", resource: "customresourcedefinitions" } as const;
const BINDINGS = { group: "apis.kcp.io", version: "v1alpha2", resource: "apibindings" } as const;

type Names = LiveList<KubernetesObject>;

/**
 * CustomResourceDefinitions and APIBindings of a resource in all workspaces, live, those that the user may list: two lists, whatever the
 * number of workspaces, and only their names. `failed` without query views over all workspaces.
 */
function definitionsOf({ group, resource }: Pick<ResourceId, "group" | "resource">): readonly Names[] {
  const text = JSON.stringify;
  const bound = `object.status.boundResources.exists(one, one.group == ${text(group)} && one.resource == ${text(resource)})`;
  return [
    everyOne(CRDS, `object.metadata.name == ${text(`${resource}.${group}`)}`),
    everyOne(BINDINGS, `has(object.status.boundResources) && ${bound}`),
  ];
}

const everyOne = (id: ResourceId, filter: string): Names =>
  liveNames(`${queryPath("*")}/${resourcePath(id)}`, { filter }).value;

/** Names of the logical clusters of lists, each computed once: the tree looks for each of its open workspaces. */
const clustersOfList = new WeakMap<Names["items"], ReadonlySet<string>>();

function clustersOf({ items }: Names): ReadonlySet<string> {
  const known = clustersOfList.get(items);
  if (known !== undefined) return known;
  const clusters = new Set(items.map(clusterOf).filter((name) => name !== ""));
  clustersOfList.set(items, clusters);
  return clusters;
}

/** Whether a logical cluster serves a resource, by its CustomResourceDefinition or by an APIBinding. To be read while rows are computed. */
export const servesResource = (id: Pick<ResourceId, "group" | "resource">, cluster: string): boolean =>
  definitionsOf(id).some((list) => clustersOf(list).has(cluster));

/** Objects of several workspaces. */
export interface Everywhere<T extends KubernetesObject> extends Omit<LiveList<T>, "reload"> {
  /** The server has no list over all workspaces: these are the objects of one. */
  readonly isPartial: boolean;
}

/** The objects of a resource in all workspaces that serve it, live; in `own` if the server cannot tell which these are. */
export function listEverywhere<T extends KubernetesObject>(
  id: ResourceId,
  { own, parameters = {} }: { readonly own: string; readonly parameters?: Parameters },
): Everywhere<T> {
  const definitions = definitionsOf(id);
  const state = worst(definitions.map((list) => list.state));
  if (state === "failed") {
    const list = liveList<T>(`${own}/${resourcePath(id)}`, parameters).value;
    return { ...list, isPartial: true };
  }
  const clusters = new Set(definitions.flatMap((list) => [...clustersOf(list)]));
  const lists = [...clusters].map(
    (name) => liveList<T>(`${workspacePath(name)}/${resourcePath(id)}`, parameters).value,
  );
  // A workspace whose objects the user may not list has none for them.
  const others = lists.filter((list) => list.state !== "failed");
  const error = others.find((list) => list.error !== undefined)?.error;
  return {
    items: others.flatMap(({ items }) => items).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
    state: worst([state, ...others.map((list) => list.state)]),
    isPartial: false,
    ...(error !== undefined && { error }),
  };
}

const keyOf = ({ metadata }: KubernetesObject): string => `${metadata.namespace ?? ""}\u0000${metadata.name}`;

function worst(states: readonly Names["state"][]): Names["state"] {
  return (["failed", "loading", "retrying"] as const).find((state) => states.includes(state)) ?? "live";
}
