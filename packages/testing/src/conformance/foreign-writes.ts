import { setTimeout as delay } from "node:timers/promises";
import { CheckFailure, CheckSkipped } from "../assertions/expect.ts";
import { listAt, textAt } from "../assertions/json.ts";
import { keyOf, plainKeyOf, readList, versionOf } from "../assertions/objects.ts";
import { TransportError } from "../http/answer.ts";
import type { HttpClient } from "../http/client.ts";
import { WatchStream } from "../http/watch-stream.ts";
import type { CollectionProbe } from "../probe/collection-probe.ts";

/** Duration of a watch, s, and the time before a failed one is repeated, ms. */
const [WATCH, AGAIN] = [300, 250];
/** Field managers of the suite begin with this. */
const OURS = "conformance-";
/** Manager that Kubernetes itself records at the first apply. */
const OF_THE_SERVER = "before-first-apply";

/** Write that the run did not cause. */
interface ForeignWrite {
  readonly at: number;
  /** Description for people: `notes.v1.example.dev default/a, by kubectl`. */
  readonly what: string;
}

/**
 * Notices writes of other clients to a resource while a run writes it: to objects that are not of the run, and by other field
 * managers to those of the run. It notices no deletions: a faulty server may delete any object when the run deletes its own.
 */
export class ForeignWrites implements AsyncDisposable {
  readonly #probe: CollectionProbe;
  readonly #client: HttpClient;
  readonly #run: string;
  readonly #versions = new Map<string, string>();
  readonly #managers = new Set<string>([OF_THE_SERVER]);
  readonly #seen: ForeignWrite[] = [];
  readonly #over = new AbortController();
  #watching: Promise<void> = Promise.resolve();

  /** @param client is used for these requests only, and disposed with this */
  constructor(probe: CollectionProbe, { client, run }: { readonly client: HttpClient; readonly run: string }) {
    this.#probe = probe;
    this.#client = client;
    this.#run = run;
  }

  /** Remembers the existing objects, and watches from then on. */
  async start(): Promise<void> {
    const version = await this.#list();
    this.#seen.length = 0;
    if (this.#probe.resource.verbs.includes("watch")) this.#watching = this.#watch(version);
  }

  /** Returns the first foreign write since a time of `performance.now()`, in words. */
  async since(start: number): Promise<string | undefined> {
    await this.#list();
    return this.#seen.find((write) => write.at >= start)?.what;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    this.#client[Symbol.dispose]();
    await this.#watching;
  }

  /** Reads the objects as they are now. Returns the version of the list, or "" when it cannot be read. */
  async #list(): Promise<string> {
    try {
      const { items, resourceVersion } = readList(await this.#client.call(this.#probe.path));
      for (const object of items) this.#hear(object);
      return resourceVersion;
    } catch (error) {
      return expected(error);
    }
  }

  async #watch(from: string): Promise<void> {
    const { signal } = this.#over;
    let version = from;
    while (!signal.aborted) {
      await this.#events(version).catch(expected);
      await delay(AGAIN, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) version = await this.#list();
    }
  }

  async #events(resourceVersion: string): Promise<void> {
    const query = { watch: "true", resourceVersion, timeoutSeconds: WATCH };
    const stream = await this.#client.watch(this.#probe.path, { query });
    if (!(stream instanceof WatchStream)) return;
    using open = stream;
    for (;;) {
      const event = await open.next(WATCH * 2_000);
      if (event === undefined || event.type === "ERROR") return;
      if (event.type === "ADDED") this.#learn(event.object);
      if (event.type === "ADDED" || event.type === "MODIFIED") this.#hear(event.object);
    }
  }

  /** The first event of an object of the run names the manager that the server gives to the run. */
  #learn(object: unknown): void {
    if (this.#isOurs(object) && !this.#versions.has(keyOf(object)))
      for (const manager of managersOf(object)) this.#managers.add(manager);
  }

  #hear(object: unknown): void {
    const [key, version] = [keyOf(object), versionOf(object)];
    if (this.#versions.get(key) === version) return;
    this.#versions.set(key, version);
    const managers = managersOf(object);
    if (this.#isOurs(object)) {
      if (this.#managers.size === 1) return; // unknown so far
      const foreign = managers.find((one) => !one.startsWith(OURS) && !this.#managers.has(one));
      if (foreign !== undefined) this.#note(object, foreign);
    } else if (textAt(object, "metadata", "deletionTimestamp") === "") this.#note(object, managers.at(-1));
  }

  #note(object: unknown, manager: string | undefined): void {
    const name = plainKeyOf(object).replace(/^\//, "");
    const by = manager === undefined ? "" : `, by ${manager}`;
    this.#seen.push({ at: performance.now(), what: `${this.#probe.name} ${name}${by}` });
  }

  #isOurs(object: unknown): boolean {
    return (
      textAt(object, "metadata", "name").includes(this.#run) ||
      textAt(object, "metadata", "namespace").includes(this.#run)
    );
  }
}

/** Returns the field managers of an object, the one of the latest write last. */
function managersOf(object: unknown): readonly string[] {
  return listAt(object, "metadata", "managedFields")
    .toSorted((one, other) => (textAt(one, "time") < textAt(other, "time") ? -1 : 1))
    .map((entry) => textAt(entry, "manager"))
    .filter((manager) => manager !== "");
}

/** The run's checks report what is wrong with lists and watches. */
function expected(error: unknown): "" {
  if (error instanceof TransportError || error instanceof CheckFailure || error instanceof CheckSkipped) return "";
  throw error;
}
