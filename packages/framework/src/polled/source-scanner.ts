import { ApiError, CLUSTER_ANNOTATION, formatGroupResource, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { askedAfterNow, systemClock, untilAborted } from "@virtual-workspaces/transport";
import { groupResourceOf } from "../definition.ts";
import { type Log, warningLog } from "../observe/log/log.ts";
import type { SourceObject, WrittenObject } from "../resource/collection/replacement.ts";
import type { CacheLease } from "../storage.ts";
import { cacheKey } from "../watch/cache/watch-cache.ts";
import type { PolledOptions, ReadContext } from "./polled-options.ts";

/** Runs work in turns: one at a time, in the order in which it was given. */
class Turns {
  #last: Promise<void> = Promise.resolve();

  /**
   * Waits for the turn, and works until the promise of `act` settles.
   *
   * @param signal gives up the turn while it waits for it
   * @throws the error of `act`, or the signal's reason
   */
  async take<R>(act: () => Promise<R>, signal?: AbortSignal): Promise<R> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = before.then(() => promise);
    try {
      await untilAborted(before, signal);
      signal?.throwIfAborted();
      return await act();
    } finally {
      resolve();
    }
  }
}

/** Reads a source into its collection, and reports the failures. */
export class SourceScanner<T extends object> {
  /** Turns of reads and writes. */
  readonly turns: Turns = new Turns();
  /** As `Polled.scan`. */
  readonly scan: () => Promise<void> = askedAfterNow(() => this.turns.take(async () => void (await this.readAll())));
  /** Resolves when the first scan has ended, well or not, unless it was stopped. */
  readonly tried: Promise<void>;
  /** Kind of the objects, as in messages of Kubernetes: `books.example.dev`. */
  readonly name: string;
  log: Log = warningLog;
  readonly #options: PolledOptions<T>;
  readonly #endFirst: () => void;
  #stop = new AbortController();
  #readAt: Date | undefined;
  #problem: string | undefined;

  /** @throws Error on an invalid duration */
  constructor(options: PolledOptions<T>) {
    const { collection, every, timeout } = options;
    this.name = formatGroupResource(groupResourceOf(collection.resource));
    for (const [option, ms] of Object.entries({ every, timeout })) {
      if (ms === undefined || ms > 0) continue;
      throw new Error(`invalid ${option} of polled ${this.name}: use a number of milliseconds above 0`);
    }
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.tried = promise;
    this.#endFirst = resolve;
  }

  /** @throws ApiError 503 until the source has been read once */
  checkRead(): void {
    if (this.#readAt !== undefined) return;
    const why = this.#problem === undefined ? "" : ": its source cannot be read";
    throw ApiError.serviceUnavailable(`${this.name} have not been read yet${why}; try again`, 1);
  }

  /** Rejects reads of clients before the first scan, and warns them after a failed one. */
  readonly confirm: CacheLease["confirm"] = ({ warn }) => {
    this.checkRead();
    if (this.#problem === undefined) return;
    const since = `${this.#readAt?.toISOString().slice(0, 19)}Z`;
    warn?.(`the source of ${this.name} could not be read since ${since}: its objects are as of then`);
  };

  /** Aborts the reads under way. */
  stop(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
  }

  /** Reads all objects and serves them. @returns the keys that the source has */
  async readAll(written?: WrittenObject): Promise<ReadonlySet<string>> {
    const { cluster, read, collection } = this.#options;
    const given = await this.#reading(async (context) => {
      const objects = await settled(() => read(context), context);
      return collection.replace({ cluster, namespace: "" }, objects, written);
    });
    this.#succeeded();
    return given;
  }

  /** Reads one object and serves it. @returns whether the source has it */
  async readKey(key: ObjectKey, written?: WrittenObject): Promise<boolean> {
    const { readOne, collection, cluster } = this.#options;
    if (readOne === undefined) return (await this.readAll(written)).has(cacheKey(key));
    return this.#reading(async (context) => {
      const object = await settled(() => readOne(key, context), context);
      if (object !== undefined) checkKey(object, key, cluster === "*");
      collection.replaceOne(key, object, written);
      return object !== undefined;
    });
  }

  async #reading<R>(read: (context: ReadContext) => Promise<R>): Promise<R> {
    const { timeout = 60_000, clock = systemClock } = this.#options;
    const late = new AbortController();
    const stop = this.#stop.signal;
    using _late = clock.after(timeout, () => late.abort(new Error(`no result within ${timeout} ms`)));
    try {
      return await read({ signal: AbortSignal.any([late.signal, stop]) });
    } catch (error) {
      if (!stop.aborted) this.#failed(error);
      throw error;
    }
  }

  #succeeded(): void {
    this.#endFirst();
    this.#readAt = new Date();
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    this.log({ level: "info", message: "source can be read again", resource: this.name });
  }

  #failed(error: unknown): void {
    this.#endFirst();
    const message = messageOf(error);
    if (message === this.#problem) return;
    this.#problem = message;
    const { onError } = this.#options;
    if (onError === undefined)
      this.log({ level: "warn", message: "source cannot be read", resource: this.name, error: message });
    else
      try {
        onError(error);
      } catch {
        // Reads continue, whatever the author does about failures.
      }
  }
}

/** Maximum number of causes in the log. */
const MOST_CAUSES = 5;

/** Returns the message of an error and those of its causes: `fetch failed: connect ECONNREFUSED 127.0.0.1:80`. */
function messageOf(error: unknown): string {
  const texts: string[] = [];
  for (let one = error; one !== undefined && texts.length <= MOST_CAUSES; ) {
    const text = one instanceof AggregateError && one.message === "" ? one.errors.map(textOf).join(", ") : textOf(one);
    // A wrapper often quotes its cause.
    if (!texts.some((before) => before.includes(text))) texts.push(text);
    one = one instanceof Error ? one.cause : undefined;
  }
  return texts.join(": ");
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

/** Waits for a function of the author, no longer than its signal allows. */
function settled<R>(call: () => R | Promise<R>, { signal }: ReadContext): Promise<R> {
  return untilAborted((async () => call())(), signal);
}

/**
 * Security: an author who knows objects by name alone would show them in every namespace and logical cluster.
 *
 * @throws Error when `readOne` has returned another object, or one that does not name its namespace
 */
function checkKey({ metadata }: SourceObject, key: ObjectKey, isAnywhere: boolean): void {
  const { name, namespace = "", annotations = {} } = metadata;
  const cluster = isAnywhere ? annotations[CLUSTER_ANNOTATION] : key.cluster;
  if (name === key.name && namespace === key.namespace && cluster === key.cluster) return;
  const [found, requested] = [`${cluster}/${namespace}/${name}`, `${key.cluster}/${key.namespace}/${key.name}`];
  throw new Error(`readOne returned ${found} for ${requested}: return that object, or nothing`);
}
