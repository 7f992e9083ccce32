import type { Parameters } from "../api/base.ts";
import { queryPath, type ResourceId, resourcePath, workspacePath } from "../api/base.ts";
import { EXPORT_LABEL, type LiveList, liveList, liveNames } from "../api/live-list.ts";
import { clusterOf, type KubernetesObject } from "../api/types.ts";
import { identityOf } from "../resources/identity.ts";

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

/** Logical clusters of lists with the exports of their bindings, each computed once: the tree looks for each of its open workspaces. */
const clustersOfList = new WeakMap<Names["items"], ReadonlyMap<string, string>>();

function clustersOf({ items }: Names): ReadonlyMap<string, string> {
  const known = clustersOfList.get(items);
  if (known !== undefined) return known;
  const clusters = new Map(items.map((one) => [clusterOf(one), one.metadata.labels?.[EXPORT_LABEL] ?? ""]));
  clusters.delete("");
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

/** Most workspaces that bind the same export and are listed one by one. */
const FEW = 3;

/** Lists of the objects of a resource: one over all workspaces that bind an export, or one of each workspace. `undefined` until known. */
function listsOf<T extends KubernetesObject>(
  id: ResourceId,
  clusters: readonly string[],
  parameters: Parameters,
): readonly LiveList<T>[] | undefined {
  const [first = ""] = clusters;
  const identity = clusters.length <= FEW ? "" : identityOf(first, id);
  if (identity === undefined) return undefined;
  if (identity !== "") {
    const bound = { ...id, resource: `${id.resource}:${identity}` };
    const list = liveList<T>(`${queryPath("*")}/${resourcePath(bound)}`, parameters).value;
    if (list.state !== "failed") return [list];
  }
  return clusters.map((name) => liveList<T>(`${workspacePath(name)}/${resourcePath(id)}`, parameters).value);
}

/**
 * The objects of a resource in all workspaces that serve it, live; in `own` if the server cannot tell which these are. Workspaces that
 * bind the same export are one list, so that their number costs no requests.
 */
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
  const clusters = new Map(definitions.flatMap((list) => [...clustersOf(list)]));
  const byExport = Map.groupBy(clusters.keys(), (name) => clusters.get(name) ?? "");
  const lists = [...byExport].map(([bound, names]) => {
    // Definitions of workspaces have nothing in common.
    if (bound === "") return names.flatMap((name) => listsOf<T>(id, [name], parameters) ?? []);
    return listsOf<T>(id, names, parameters);
  });
  if (lists.includes(undefined)) return { items: [], state: "loading", isPartial: false };
  // A workspace whose objects the user may not list has none for them.
  const others = lists.flatMap((some = []) => some.filter((list) => list.state !== "failed"));
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
