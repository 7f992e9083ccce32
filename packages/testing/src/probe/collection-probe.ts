import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { CheckFailure, excerpt, expectStatus, fail, skip } from "../assertions/expect.ts";
import type { JsonObject } from "../assertions/json.ts";
import {
  applyEvents,
  endsInitialEvents,
  eventCounts,
  eventObject,
  type List,
  readEvents,
  readList,
  versionOf,
  versionsByKey,
} from "../assertions/objects.ts";
import { type ConformanceResource, groupVersionPath, resourceName } from "../assertions/report.ts";
import type { Answer } from "../http/answer.ts";
import type { CallOptions, Query } from "../http/client.ts";
import { type WatchLine, WatchStream } from "../http/watch-stream.ts";
import type { ObjectName } from "./options.ts";
import { ServerProbe, type ServerProbeOptions } from "./server-probe.ts";

/** First request of client-go's reflectors: a list as the first events of a watch. */
export const WATCH_LIST: Query = Object.freeze({
  watch: "true",
  sendInitialEvents: "true",
  resourceVersionMatch: "NotOlderThan",
  allowWatchBookmarks: "true",
  timeoutSeconds: 60,
});

/** Selector that matches nothing, with a label that no user sets. */
export const SELECTS_NOTHING = "conformance.virtual-workspaces.dev/absent=nothing-has-this-label";

/** Name that no object has. */
export const ABSENT = "conformance-there-is-no-such-object";

/** Number of attempts for a comparison while objects change. */
const ATTEMPTS = 10;

export interface InitialEvents {
  readonly stream: WatchStream;
  /** Events up to and including the bookmark. */
  readonly events: readonly WatchLine[];
  /** Objects that result from the events, by key. */
  readonly state: ReadonlyMap<string, JsonObject>;
  /** Version of the bookmark. */
  readonly version: string;
}

export interface CollectionProbeOptions extends ServerProbeOptions {
  readonly resource: ConformanceResource;
}

/** Sends the requests of checks for the objects of one resource. */
export class CollectionProbe extends ServerProbe {
  readonly resource: ConformanceResource;
  /** Path of the whole collection: `/apis/example.dev/v1/quotes`. */
  readonly path: string;

  constructor(options: CollectionProbeOptions) {
    super(options);
    this.resource = options.resource;
    const { group, version, name } = options.resource;
    this.path = `${groupVersionPath({ group, version })}/${name}`;
  }

  get name(): string {
    return resourceName(this.resource);
  }

  get apiVersion(): string {
    const { group, version } = this.resource;
    return group === "" ? version : `${group}/${version}`;
  }

  /** Returns the path of one object. */
  pathOf({ namespace, name }: ObjectName): string {
    const last = encodeURIComponent(name);
    return namespace === "" ? `${this.path}/${last}` : `${this.namespacePath(namespace)}/${last}`;
  }

  /** Path of an object that does not exist. */
  get absentPath(): string {
    return this.pathOf({ namespace: this.resource.namespaced ? "default" : "", name: ABSENT });
  }

  namespacePath(namespace: string): string {
    const { group, version, name } = this.resource;
    return `${groupVersionPath({ group, version })}/namespaces/${encodeURIComponent(namespace)}/${name}`;
  }

  /** Requests the collection with this query and these headers. */
  answer(query: Query = {}, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.get(this.path, { query, headers });
  }

  /** Returns the collection as a list. @throws CheckFailure when the answer is not a list */
  async list(query: Query = {}): Promise<List> {
    return readList(await this.answer(query));
  }

  /** Returns the list when it has at least `count` objects. @throws CheckSkipped when it has fewer */
  async listOf(count: number): Promise<List & { readonly first: KubeObject }> {
    const list = await this.list();
    const [first] = list.items;
    if (first === undefined || list.items.length < count)
      skip(
        `needs ${count === 1 ? "an object" : `${count} objects`}, there ${list.items.length === 1 ? "is 1" : `are ${list.items.length}`}`,
      );
    return { ...list, first };
  }

  /** Returns the list when it has a version. A resource that cannot be watched does not need one. @throws CheckSkipped */
  async versionedList(): Promise<List> {
    const list = await this.list();
    if (list.resourceVersion === "" && !this.resource.verbs.includes("watch"))
      skip("its lists have no version, and the resource cannot be watched");
    return list;
  }

  async watchAll(query: Query, headers: Readonly<Record<string, string>> = {}): Promise<WatchStream> {
    return this.watch(this.path, { query: { watch: "true", ...query }, headers });
  }

  /** Returns the events of a watch in about one second, whether or not the server then ends it. */
  async firstSecond(query: Query, options: CallOptions & { readonly path?: string } = {}): Promise<FirstSecond> {
    const { path = this.path, ...call } = options;
    using stream = await this.watch(path, { ...call, query: { watch: "true", timeoutSeconds: 1, ...query } });
    const { seen } = await readEvents(stream, { within: 1_000 + this.deadlines.prompt });
    return { request: stream.request, seen, state: applyEvents(seen) };
  }

  /** Returns the initial events of a watch, which stays open. @throws CheckFailure when they do not end in time */
  async initialEvents(
    query: Query = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<InitialEvents & Disposable> {
    const stream = await this.watch(this.path, { query: { ...WATCH_LIST, ...query }, headers });
    try {
      const { seen, end } = await readEvents(stream, { within: this.deadlines.prompt, done: endsInitialEvents });
      const last = seen.at(-1);
      if (end !== "done" || last === undefined) {
        const asked = `a BOOKMARK annotated k8s.io/initial-events-end within ${this.deadlines.prompt} ms`;
        fail(stream.request, asked, `${eventCounts(seen)}, then ${end === "late" ? "silence" : "the end"}`);
      }
      const version = versionOf(last.object) || versionOf(eventObject(last));
      const dispose = (): void => stream[Symbol.dispose]();
      return { stream, events: seen, state: applyEvents(seen), version, [Symbol.dispose]: dispose };
    } catch (error) {
      stream[Symbol.dispose]();
      throw error;
    }
  }

  /** Opens a watch as for a server, but the server may reject `sendInitialEvents` with 422: clients then use list and watch. */
  override async watch(path: string, options: CallOptions): Promise<WatchStream> {
    if (options.query?.["sendInitialEvents"] === undefined) return super.watch(path, options);
    const opened = await this.client.watch(path, options);
    if (opened instanceof WatchStream) return opened;
    return this.#declined(opened);
  }

  /**
   * Compares two answers while objects may change. A comparison that succeeds counts; one that fails is repeated until
   * nothing changed in between.
   */
  async undisturbed(compare: () => Promise<void>): Promise<void> {
    let before: string | undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        return await compare();
      } catch (error) {
        if (!(error instanceof CheckFailure)) throw error;
        const now = await this.#fingerprint();
        if (before === now) throw error;
        if (attempt === ATTEMPTS) skip(`objects changed during each of ${ATTEMPTS} comparisons`);
        before = now;
      }
    }
  }

  async #fingerprint(): Promise<string> {
    return JSON.stringify(versionsByKey((await this.list()).items));
  }

  /** Only a 422 makes clients fall back to list and watch; any other answer leaves them waiting. */
  #declined(answer: Answer): never {
    if (answer.status === 403) skip(`the user of this run may not watch ${answer.request.url}`);
    if (answer.status !== 422)
      fail(answer.request, "200 and initial events, or 422 for clients to fall back on", excerpt(answer));
    expectStatus(answer, { codes: [422], reasons: ["Invalid"] });
    return skip("the server rejects sendInitialEvents with 422, so clients use list and watch");
  }
}

export interface FirstSecond {
  readonly request: WatchStream["request"];
  readonly seen: readonly WatchLine[];
  readonly state: ReadonlyMap<string, JsonObject>;
}
