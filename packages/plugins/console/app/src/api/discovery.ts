import { effect, type ReadonlySignal, type Signal } from "@preact/signals";
import { logicalClustersPath, type ResourceId, workspacePath } from "./base.ts";
import { asStatusError, request, type StatusError } from "./client.ts";
import { backoff, pause } from "./connection.ts";
import { aggregated, type LegacyList } from "./legacy-discovery.ts";
import { liveObject } from "./live-list.ts";
import { reloadable } from "./shared.ts";
import { Soon } from "./soon.ts";
import type { List } from "./types.ts";
import { listAndWatch } from "./watch.ts";

/** A resource that a workspace serves. */
export interface Resource extends ResourceId {
  readonly kind: string;
  readonly singular: string;
  readonly isNamespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  /** Names of its subresources, such as `status` and `scale`. */
  readonly subresources: readonly string[];
  /** The first version of its group that has it. */
  readonly isPreferred: boolean;
}

export interface Discovery {
  readonly resources: readonly Resource[];
  readonly state: "loading" | "ready" | "failed";
  readonly error?: StatusError;
  readonly reload: () => void;
}

/** Aggregated discovery of `/api` or `/apis`. */
export interface GroupList {
  readonly kind: "APIGroupDiscoveryList";
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly { readonly version: string; readonly resources?: readonly DiscoveredResource[] }[];
  }[];
}

interface DiscoveredResource {
  readonly resource: string;
  readonly responseKind?: { readonly kind?: string };
  readonly scope: string;
  readonly singularResource?: string;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly subresources?: readonly { readonly subresource: string }[];
}

const ACCEPT = [
  ...["v2", "v2beta1"].map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`),
  "application/json",
].join(",");

/** Kinds whose objects decide what a workspace serves. */
const DECIDING = ["apiextensions.k8s.io/v1/customresourcedefinitions", "apis.kcp.io/v1alpha2/apibindings"] as const;
/** Time from a change of these to the next answer, in milliseconds: the server needs some, too. */
const GATHER = 1_000;

/** The resources that a workspace serves: read once for all its readers, and again when kinds come and go, or the workspace itself changes. */
export function discovery(workspace: string): ReadonlySignal<Discovery> {
  return reloadable<Discovery>(`discovery ${workspace}`, { resources: [], state: "loading" }, (state) => {
    const stop = new AbortController();
    const again = new Soon(GATHER, (signal) => readUntilAnswered(state, workspace, signal));
    const ends = DECIDING.map((path) =>
      watchForChanges(`${workspacePath(workspace)}/apis/${path}`, () => again.schedule()),
    );
    ends.push(onReplaced(workspace, () => again.schedule()));
    void readUntilAnswered(state, workspace, stop.signal);
    return () => {
      stop.abort();
      again.stop();
      for (const end of ends) end();
    };
  });
}

/** Reads the resources; again with backoff while the server cannot answer. */
async function readUntilAnswered(state: Signal<Discovery>, workspace: string, stop: AbortSignal): Promise<void> {
  for (let failures = 1; !stop.aborted; failures += 1) {
    const { reload, resources: before } = state.peek();
    try {
      state.value = { resources: await readResources(workspacePath(workspace), stop), state: "ready", reload };
      return;
    } catch (cause) {
      if (stop.aborted) return;
      const error = asStatusError(cause);
      state.value = { resources: before, state: "failed", error, reload };
      if (!error.isTransient) return;
    }
    await pause(backoff(failures), stop);
  }
}

/** Calls `onChange` when the LogicalCluster of a workspace is replaced by another one: by a reload of `virtual-workspaces dev`, for example. */
function onReplaced(workspace: string, onChange: () => void): () => void {
  const own = liveObject(logicalClustersPath(workspace), "cluster");
  let known: string | undefined;
  return effect(() => {
    const uid = own.value.items[0]?.metadata.uid;
    if (known !== undefined && uid !== undefined && uid !== known) onChange();
    known = uid ?? known;
  });
}

/** Calls `onChange` when an object at `path` changes; never for users who may not list or watch them. */
function watchForChanges(path: string, onChange: () => void): () => void {
  let isListed = false;
  return listAndWatch({
    path: () => path,
    parameters: () => ({}),
    async list(signal) {
      // The version is enough: the objects are long. Changes before another list are not known.
      if (isListed) onChange();
      isListed = true;
      const list = await request<List<unknown>>(path, { parameters: { limit: 1 }, signal });
      return { resourceVersion: list.metadata.resourceVersion ?? "" };
    },
    onEvent: ({ type }) => {
      if (type !== "BOOKMARK") onChange();
    },
    onState: () => undefined,
  });
}

/** The resource of a route, once discovery has it. */
export function findResource({ resources }: Discovery, id: ResourceId): Resource | undefined {
  return resources.find((one) => one.resource === id.resource && one.group === id.group && one.version === id.version);
}

/** Reads the resources that an API serves, at the path of a workspace or of a view. Throws a StatusError. */
export async function readResources(path: string, signal: AbortSignal): Promise<readonly Resource[]> {
  const read = async (root: string): Promise<GroupList> => {
    const list = await request<GroupList | LegacyList>(`${path}/${root}`, { accept: ACCEPT, signal });
    return list.kind === "APIGroupDiscoveryList" ? list : aggregated(path, list, signal);
  };
  const [core, groups] = await Promise.all([read("api"), read("apis")]);
  return [...resourcesOf(core), ...resourcesOf(groups)];
}

function resourcesOf({ items = [] }: GroupList): Resource[] {
  const all: Resource[] = [];
  for (const { metadata, versions = [] } of items) {
    const group = metadata?.name ?? "";
    const seen = new Set<string>();
    for (const { version, resources = [] } of versions) {
      for (const one of resources) {
        all.push({
          group,
          version,
          resource: one.resource,
          kind: one.responseKind?.kind ?? one.resource,
          singular: one.singularResource ?? one.resource,
          isNamespaced: one.scope === "Namespaced",
          verbs: one.verbs ?? [],
          shortNames: one.shortNames ?? [],
          subresources: (one.subresources ?? []).map(({ subresource }) => subresource),
          isPreferred: !seen.has(one.resource),
        });
        seen.add(one.resource);
      }
    }
  }
  return all.sort((a, b) => compare(a.group, b.group) || compare(a.resource, b.resource));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
