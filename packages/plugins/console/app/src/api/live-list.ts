import type { ReadonlySignal, Signal } from "@preact/signals";
import type { Parameters } from "./base.ts";
import { METADATA, request, SLIM, type StatusError } from "./client.ts";
import { nameSelector } from "./objects.ts";
import { reloadable } from "./shared.ts";
import type { KubernetesObject, List } from "./types.ts";
import { clusterOf } from "./types.ts";
import { listAndWatch, type WatchEvent } from "./watch.ts";

export interface LiveList<T extends KubernetesObject> {
  /** Sorted by namespace and name. */
  readonly items: readonly T[];
  /** `loading` has the pages that have come; `retrying` and `failed` keep the last items and have an error. */
  readonly state: "loading" | "live" | "retrying" | "failed";
  readonly error?: StatusError;
  /** Shards of the list, if it is over several. */
  readonly shards?: readonly string[];
  /** Shards whose objects may be missing or out of date. */
  readonly unavailable?: readonly string[];
  /** Lists again, for example after `failed`. */
  readonly reload: () => void;
}

/** Objects of one answer of a list: the first rows of a long list show soon, and the page stays responsive. */
const CHUNK = 500;
/** Events are shown together, after this time in milliseconds. */
const GATHER = 50;

/** The objects at `path`, kept up to date while anything reads the signal. Without managed fields. */
export function liveList<T extends KubernetesObject>(
  path: string,
  parameters: Parameters = {},
): ReadonlySignal<LiveList<T>> {
  const key = `list ${path} ${JSON.stringify(parameters)}`;
  return reloadable<LiveList<T>>(key, { items: [], state: "loading" }, (state) => start(state, { path, parameters }));
}

/** Label of APIBindings with a digest of their export, as kcp has it. */
export const EXPORT_LABEL = "internal.apis.kcp.io/export";

/**
 * The same with names, namespaces, logical clusters and exports of bindings alone, which is a small part of long lists. Other
 * changes are no news.
 */
export function liveNames(path: string, parameters: Parameters = {}): ReadonlySignal<LiveList<KubernetesObject>> {
  const key = `names ${path} ${JSON.stringify(parameters)}`;
  const source = { path, parameters, isNames: true };
  return reloadable<LiveList<KubernetesObject>>(key, { items: [], state: "loading" }, (state) => start(state, source));
}

/** One object, kept up to date. `items` is empty when there is none. */
export function liveObject<T extends KubernetesObject>(collection: string, name: string): ReadonlySignal<LiveList<T>> {
  return liveList<T>(collection, { fieldSelector: nameSelector(name) });
}

interface Source {
  readonly path: string;
  readonly parameters: Parameters;
  /** Keeps names and logical clusters alone. Events have whole objects: a WebSocket has no header `Accept`. */
  readonly isNames?: boolean;
}

function start<T extends KubernetesObject>(state: Signal<LiveList<T>>, source: Source) {
  const { path, parameters, isNames = false } = source;
  const slim = isNames ? namesOf<T> : withoutManagers<T>;
  const objects = new Map<string, T>();
  let phase: Pick<LiveList<T>, "state" | "error"> = { state: "loading" };
  let covered: Pick<LiveList<T>, "shards" | "unavailable"> = {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Sorted; undefined when objects have come or gone. */
  let keys: readonly string[] | undefined;
  const show = () => {
    timer = undefined;
    keys ??= [...objects.keys()].sort();
    const items = keys.flatMap((key) => objects.get(key) ?? []);
    state.value = { items, reload: state.peek().reload, ...phase, ...covered };
  };
  const showSoon = () => {
    timer ??= setTimeout(show, GATHER);
  };
  const stop = listAndWatch<T>({
    path: () => path,
    parameters: () => parameters,
    async list(signal) {
      const listed = new Map<string, T>();
      let next: string | undefined;
      let resourceVersion = "";
      let rights: string | undefined;
      do {
        const page = { ...parameters, limit: CHUNK, continue: next };
        const accept = isNames ? METADATA : SLIM;
        const list: List<T> = await request(path, { parameters: page, signal, accept });
        // Items of a list may leave out what all of them have in common.
        const common = { apiVersion: list.apiVersion, kind: list.kind?.replace(/List$/, "") };
        for (const object of list.items ?? []) listed.set(keyOf(object), { ...common, ...slim(object) });
        resourceVersion = list.metadata.resourceVersion ?? "";
        rights = list.metadata.query?.rights;
        const { shards = [], unavailableShards: unavailable = [] } = list.metadata.query ?? {};
        covered = { shards, unavailable };
        next = list.metadata.continue || undefined;
        // The first list shows its pages as they come; a later one replaces the old state at its end.
        if (next !== undefined && phase.state === "loading") {
          for (const [key, object] of listed) objects.set(key, object);
          keys = undefined;
          show();
        }
      } while (next !== undefined);
      objects.clear();
      for (const [key, object] of listed) objects.set(key, object);
      keys = undefined;
      phase = { state: "live" };
      show();
      return { resourceVersion, parameters: { rights } };
    },
    onEvent(event: WatchEvent<T>) {
      if (event.type === "BOOKMARK") return;
      const key = keyOf(event.object);
      if (isNames && event.type === "MODIFIED" && objects.has(key)) return;
      if (event.type === "DELETED" || !objects.has(key)) keys = undefined;
      if (event.type === "DELETED") objects.delete(key);
      else objects.set(key, slim(event.object));
      showSoon();
    },
    onState({ error, isFinal = false }) {
      if (error === undefined) phase = { state: "live" };
      else phase = { state: isFinal ? "failed" : "retrying", error };
      showSoon();
    },
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

/** Sorts by namespace, then by name: a separator that sorts before all characters of names. */
const keyOf = (object: KubernetesObject): string =>
  `${object.metadata.namespace ?? ""}\u0000${object.metadata.name}\u0000${clusterOf(object)}`;

function withoutManagers<T extends KubernetesObject>(object: T): T {
  delete (object.metadata as { managedFields?: unknown }).managedFields;
  return object;
}

function namesOf<T extends KubernetesObject>(object: T): T {
  const { name, namespace, labels = {} } = object.metadata;
  const annotations = { "kcp.io/cluster": clusterOf(object) };
  const bound = labels[EXPORT_LABEL];
  const metadata = {
    ...{ name, annotations },
    ...(namespace !== undefined && { namespace }),
    ...(bound !== undefined && { labels: { [EXPORT_LABEL]: bound } }),
  };
  return { metadata } as KubernetesObject as T;
}
