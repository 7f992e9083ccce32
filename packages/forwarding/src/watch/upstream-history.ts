import { setTimeout as delay } from "node:timers/promises";
import { isApiError } from "@virtual-workspaces/apimachinery";
import {
  CacheEvent,
  type ChangesOptions,
  type Past,
  type PastChanges,
  type WatchCache,
} from "@virtual-workspaces/framework/storage";
import { Backoff, sleep, untilAborted } from "@virtual-workspaces/transport";
import type { UpstreamEvent } from "./watch-events.ts";

export interface UpstreamHistoryOptions {
  readonly cache: WatchCache;
  readonly watch: (after: string, signal: AbortSignal) => AsyncIterable<UpstreamEvent>;
}

/** Request in progress, which callers share. */
interface PendingChanges {
  readonly answer: Promise<PastChanges>;
  readonly stop: AbortController;
  holders: number;
}

/** Limits of one result: number of events, bytes, and pause in ms after which it is returned. */
const MOST = { events: 1_000, bytes: 4 * 2 ** 20, pause: 50 } as const;
/** Backoff, in ms. */
const RETRY = { first: 200, most: 5_000 } as const;
/** Maximum lag of the cache behind this history, in ms. */
const LAG = 1_000;

/**
 * History of another API server before the cache began. A separate watch reads it until it reaches an event that the cache
 * has too, which proves that nothing is missing. Callers from the same version share a watch. It waits for an unavailable
 * server, as open watches do.
 */
export class UpstreamHistory implements Past {
  readonly waits = true;
  readonly #options: UpstreamHistoryOptions;
  readonly #pending = new Map<string, PendingChanges>();

  constructor(options: UpstreamHistoryOptions) {
    this.#options = options;
  }

  async changes(after: string, { signal }: ChangesOptions): Promise<PastChanges> {
    signal.throwIfAborted();
    const pending = this.#pending.get(after) ?? this.#ask(after);
    pending.holders += 1;
    try {
      return await untilAborted(pending.answer, signal);
    } finally {
      pending.holders -= 1;
      if (pending.holders === 0) pending.stop.abort();
    }
  }

  #ask(after: string): PendingChanges {
    const stop = new AbortController();
    const forget = (): void => {
      if (this.#pending.get(after) === pending) this.#pending.delete(after);
    };
    const pending: PendingChanges = { stop, holders: 0, answer: this.#read(after, stop.signal).finally(forget) };
    pending.answer.catch(() => undefined);
    stop.signal.addEventListener("abort", forget, { once: true });
    this.#pending.set(after, pending);
    return pending;
  }

  async #read(after: string, signal: AbortSignal): Promise<PastChanges> {
    for (const backoff = new Backoff(RETRY); ; ) {
      const began = performance.now();
      try {
        const told = await this.#readOnce(after, signal);
        if (told !== undefined) return told;
        if (performance.now() - began > RETRY.most) backoff.reset();
      } catch (error) {
        if (signal.aborted || !passes(error)) throw error;
      }
      await sleep(backoff.next(), { signal, ref: false });
      signal.throwIfAborted();
    }
  }

  /** @returns `undefined` if the upstream ended the watch before its first event */
  async #readOnce(after: string, signal: AbortSignal): Promise<PastChanges | undefined> {
    const { cache, watch } = this.#options;
    const stop = new AbortController();
    const iterator = watch(after, AbortSignal.any([signal, stop.signal]))[Symbol.asyncIterator]();
    const events: CacheEvent[] = [];
    let version = after;
    let bytes = 0;
    try {
      for (;;) {
        const step = await within(iterator.next(), events.length === 0 ? undefined : MOST.pause, events);
        if (step === undefined || step.done === true) break;
        const told = step.value;
        version = told.type === "BOOKMARK" ? told.resourceVersion : told.object.resourceVersion;
        if (told.type !== "BOOKMARK") {
          events.push(pastEvent(told));
          bytes += told.object.bytes.length;
        }
        if (cache.position(version) === "ahead")
          await cache.reach(version, { signal, timeout: LAG }).catch(() => undefined);
        if (typeof cache.position(version) === "number") break;
        if (events.length >= MOST.events || bytes >= MOST.bytes) break;
      }
    } finally {
      stop.abort();
    }
    return version === after ? undefined : { events, version };
  }
}

/** Returns the next step; `undefined` after the pause, or after a failure that follows events. */
async function within<T>(
  step: Promise<T>,
  pause: number | undefined,
  events: readonly unknown[],
): Promise<T | undefined> {
  if (pause === undefined) return step;
  const patience = new AbortController();
  const late = delay(pause, undefined, { signal: patience.signal }).catch(() => undefined);
  const tolerant = step.catch((error: unknown) => {
    if (events.length === 0) throw error;
    return undefined;
  });
  const first = await Promise.race([tolerant, late]);
  patience.abort();
  return first;
}

/** The previous object is unknown; the upstream has applied the selectors. */
function pastEvent({ type, object }: Exclude<UpstreamEvent, { type: "BOOKMARK" }>): CacheEvent {
  const { resourceVersion } = object;
  if (type === "DELETED") return new CacheEvent(resourceVersion, undefined, object);
  return new CacheEvent(resourceVersion, object, type === "ADDED" ? undefined : object);
}

/** Returns whether an error is transient: a deliberate one of the upstream is not. */
function passes(error: unknown): boolean {
  return !isApiError(error) || error.code >= 500 || error.code === 429;
}
