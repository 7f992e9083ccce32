import type { Parameters } from "../api/base.ts";
import { queryPath, type ResourceId, resourcePath, workspacePath } from "../api/base.ts";
import { type LiveList, liveList } from "../api/live-list.ts";
import { clusterOf, type KubernetesObject } from "../api/types.ts";

const CRDS = { group: "apiextensions.k8s.io", version: "v1", resource: "customresourcedefinitions" } as const;
const BINDINGS = { group: "apis.kcp.io", version: "v1alpha2", resource: "apibindings" } as const;

interface Places {
  /** Names of logical clusters. */
  readonly clusters: readonly string[];
  readonly state: LiveList<KubernetesObject>["state"];
}

/**
 * The logical clusters that serve a resource, by its CustomResourceDefinition or by an APIBinding, live: those of which the user may
 * list these. To be read while a component is rendered, or in a computed value. `failed` without query views over all workspaces.
 */
export function clustersWith({ group, resource }: Pick<ResourceId, "group" | "resource">): Places {
  const text = JSON.stringify;
  const bound = `object.status.boundResources.exists(one, one.group == ${text(group)} && one.resource == ${text(resource)})`;
  const lists = [
    everyOne(CRDS, `object.metadata.name == ${text(`${resource}.${group}`)}`),
    everyOne(BINDINGS, `has(object.status.boundResources) && ${bound}`),
  ];
  const clusters = new Set(lists.flatMap(({ items }) => items.map(clusterOf)).filter((name) => name !== ""));
  return { clusters: [...clusters].sort(), state: worst(lists.map(({ state }) => state)) };
}

const everyOne = (id: ResourceId, filter: string) =>
  liveList(`${queryPath("*")}/${resourcePath(id)}`, { filter }).value;

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
  const { clusters, state } = clustersWith(id);
  if (state === "failed") {
    const list = liveList<T>(`${own}/${resourcePath(id)}`, parameters).value;
    return { ...list, isPartial: true };
  }
  const lists = clusters.map((name) => liveList<T>(`${workspacePath(name)}/${resourcePath(id)}`, parameters).value);
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

function worst(states: readonly Places["state"][]): Places["state"] {
  return (["failed", "loading", "retrying"] as const).find((state) => states.includes(state)) ?? "live";
}
