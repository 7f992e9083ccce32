import { effect, type ReadonlySignal, type Signal } from "@preact/signals";
import { resourcePath, workspacePath } from "../api/base.ts";
import { request } from "../api/client.ts";
import { discovery, type Resource } from "../api/discovery.ts";
import { reloadable } from "../api/shared.ts";
import type { List } from "../api/types.ts";
import { listAndWatch } from "../api/watch.ts";
import type { WholeObject } from "../object/live-object.ts";
import { type Change, type Changed, changesInEvent, changesInMetadata, deletionOf } from "./change.ts";
import { ChangeLog, type TimedChange } from "./change-log.ts";
import { Histories } from "./history.ts";

/** Time that the page shows, in milliseconds. */
const SPAN = 3_600_000;
/** Lists metadata only, where the server can. */
const ACCEPT = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
/** Objects of an answer, and answers of a kind: no more are read. */
const [CHUNK, PAGES] = [500, 4];
/** A watch that the server does not reject within this time, in milliseconds, has replayed its history. */
const SETTLE = 300;
/** Events are shown together, after this time in milliseconds; after the longer one if there are more changes than these. */
const [GATHER, GATHER_MANY, FEW] = [100, 500, 2_000];
/** Objects of a stream whose last state is kept, to compare it with the next one. */
const COMPARED = 5_000;

export interface WorkspaceChanges {
  /** Of the last hour, newest first. */
  readonly changes: readonly TimedChange[];
  readonly state: "loading" | "live";
  /** Kinds that are watched, and of these the ones that have been read. */
  readonly followed: number;
  readonly ready: number;
  /** Time from which each change and deletion is known, in milliseconds. */
  readonly knownSince: number;
  /** Kinds of which the server remembers more. */
  readonly longer: readonly { readonly resource: string; readonly since: number }[];
  /** Kinds that cannot be read, and kinds that have more objects than are read. */
  readonly unread: readonly string[];
  readonly cut: readonly string[];
  /** There are more changes than are kept. */
  readonly isCut: boolean;
  readonly reload: () => void;
}

/** Leases and Events change all the time, and say nothing about who has changed what. */
const isWorthwhile = ({ group, resource, verbs, isPreferred }: Resource): boolean =>
  isPreferred &&
  verbs.includes("list") &&
  verbs.includes("watch") &&
  resource !== "events" &&
  resource !== "leases" &&
  group !== "events.k8s.io";

/** The changes of a workspace within the last hour: from its lists, the history of its watches, and their events. */
export function workspaceChanges(workspace: string): ReadonlySignal<WorkspaceChanges> {
  const none = {
    changes: [],
    state: "loading",
    followed: 0,
    ready: 0,
    longer: [],
    unread: [],
    cut: [],
    isCut: false,
  } as const;
  return reloadable<WorkspaceChanges>(`changes ${workspace}`, { ...none, knownSince: Date.now() }, (state) => {
    const followed = new Followed(state, workspace);
    // The resources come and go with the kinds that the workspace serves.
    const stop = effect(() => followed.follow(discovery(workspace).value.resources.filter(isWorthwhile)));
    return () => {
      stop();
      followed.stop();
    };
  });
}

/** The streams of a workspace, one for each resource. */
class Followed {
  readonly #state: Signal<WorkspaceChanges>;
  readonly #workspace: string;
  readonly #log = new ChangeLog();
  readonly #streams = new Map<string, () => void>();
  readonly #sets = {
    ready: new Set<string>(),
    unread: new Set<string>(),
    cut: new Set<string>(),
  };
  readonly #stop = new AbortController();
  /** Version from which each kind is known. */
  readonly #from = new Map<string, number>();
  readonly #histories = new Histories(this.#stop.signal);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(state: Signal<WorkspaceChanges>, workspace: string) {
    this.#state = state;
    this.#workspace = workspace;
  }

  follow(resources: readonly Resource[]): void {
    for (const resource of resources) {
      const key = `${resource.resource}.${resource.group}`;
      if (!this.#streams.has(key)) this.#streams.set(key, this.#start(resource, resource.resource));
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
    for (const end of this.#streams.values()) end();
  }

  #start(resource: Resource, name: string): () => void {
    const path = `${workspacePath(this.#workspace)}/${resourcePath(resource)}`;
    const { ready, unread, cut } = this.#sets;
    const before = new Map<string, WholeObject>();
    const present = new Map<string, Changed>();
    const clock = new StreamClock();
    let [attempt, listed, isWhole] = [0, 0, false];
    let settled: ReturnType<typeof setTimeout> | undefined;
    const end = listAndWatch<WholeObject>({
      path: () => path,
      parameters: () => ({}),
      list: async (signal) => {
        clearTimeout(settled);
        const { objects, resourceVersion, isCut } = await readAll(path, signal);
        this.#add(objects.flatMap((object) => changesInMetadata({ resource, object })));
        const gone = isCut ? [] : replace(present, objects);
        isWhole = !isCut;
        this.#add(gone.map((object) => ({ ...deletionOf({ resource, object }), ...clock.gap() })));
        listed = Number(resourceVersion) || 0;
        clock.isAlive();
        if (isCut) cut.add(name);
        const from = await this.#begin(path, attempt);
        attempt += 1;
        const isOld = from !== undefined && from < listed;
        this.#from.set(name, isOld ? from : listed);
        return { resourceVersion: isOld ? String(from) : resourceVersion };
      },
      onEvent: (event) => {
        const { type, object } = event;
        const { uid = "", resourceVersion } = object.metadata;
        const isNew = Number(resourceVersion) > listed;
        if (type !== "BOOKMARK") {
          const changes = changesInEvent(event, resource, before.get(uid));
          this.#add(
            isNew ? changes.map((one) => (one.time === undefined ? { ...one, ...clock.now() } : one)) : changes,
          );
          const known = type === "DELETED" ? undefined : object;
          set(before, uid, known);
          const [oldest = ""] = before.size > COMPARED ? before.keys() : [];
          before.delete(oldest);
          if (isNew && isWhole) set(present, uid, known);
        }
        clock.isAlive();
      },
      onState: ({ error, isFinal = false }) => {
        if (error === undefined) {
          clock.opens();
          settled = setTimeout(() => {
            ready.add(name);
            this.#showSoon();
          }, SETTLE);
        }
        if (error !== undefined && isFinal) unread.add(name);
        this.#showSoon();
      },
    });
    return () => {
      clearTimeout(settled);
      end();
    };
  }

  /** Version from which a watch replays the history; undefined if there is none, or the server has rejected two of them. */
  async #begin(path: string, attempt: number): Promise<number | undefined> {
    if (attempt > 1) return undefined;
    return await this.#histories.oldestOf(path, attempt > 0).catch(() => undefined);
  }

  #add(changes: readonly Change[]): void {
    this.#log.add(changes, Date.now() - SPAN);
    this.#showSoon();
  }

  #showSoon(): void {
    this.#timer ??= setTimeout(() => this.#show(), this.#log.size > FEW ? GATHER_MANY : GATHER);
  }

  #show(): void {
    this.#timer = undefined;
    const { ready, unread, cut } = this.#sets;
    const followed = this.#streams.size;
    const since = [...this.#from].map(([resource, version]) => ({ resource, since: this.#log.timeOf(version) }));
    const knownSince = since.reduce((latest, one) => Math.max(latest, one.since), this.#log.floor) || this.#log.began;
    const names = (set: ReadonlySet<string>) => [...set].sort();
    this.#state.value = {
      changes: this.#log.since(Date.now() - SPAN),
      state: ready.size + unread.size < followed ? "loading" : "live",
      followed,
      ready: ready.size,
      knownSince,
      longer: since.filter((one) => one.since < knownSince && one.since > this.#log.floor),
      isCut: this.#log.floor > 0,
      unread: names(unread),
      cut: names(cut),
      reload: this.#state.peek().reload,
    };
  }
}

/** Event after a watch has opened that may be older: an interruption is made up for in this time, in milliseconds. */
const CATCH_UP = 2_000;

/** Times of the events of a stream that have none of their own. */
class StreamClock {
  #alive = Date.now();
  #opened = 0;
  /** When the stream was last known to work, before it was opened again. */
  #before = Date.now();

  isAlive(): void {
    this.#alive = Date.now();
  }

  opens(): void {
    this.#before = this.#alive;
    this.#opened = Date.now();
  }

  /** Time of an event that is received now. */
  now(): { readonly time: number; readonly since?: number } {
    const time = Date.now();
    return time - this.#opened < CATCH_UP ? { time, since: this.#before } : { time };
  }

  /** Time of what has happened while there was no watch. */
  gap(): { readonly time: number; readonly since: number } {
    return { time: Date.now(), since: this.#alive };
  }
}

function set<V>(map: Map<string, V>, key: string, value: V | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

/** Replaces what is in `present`. Returns the objects that have gone. */
function replace(present: Map<string, Changed>, objects: readonly Changed[]): readonly Changed[] {
  const next = new Map(objects.map((object) => [object.metadata.uid ?? "", object]));
  const gone = [...present].filter(([uid]) => !next.has(uid)).map(([, object]) => object);
  present.clear();
  for (const [uid, object] of next) present.set(uid, object);
  return gone;
}

async function readAll(path: string, signal: AbortSignal) {
  const objects: Changed[] = [];
  let [next, resourceVersion]: [string | undefined, string] = [undefined, ""];
  for (let page = 0; page < PAGES; page++) {
    const parameters = { limit: CHUNK, continue: next };
    const list: List<Changed> = await request(path, { parameters, accept: ACCEPT, signal });
    objects.push(...(list.items ?? []));
    resourceVersion = list.metadata.resourceVersion ?? "";
    next = list.metadata.continue || undefined;
    if (next === undefined) break;
  }
  return { objects, resourceVersion, isCut: next !== undefined };
}
