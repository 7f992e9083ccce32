import { setTimeout as delay } from "node:timers/promises";
import { compareResourceVersions, isApiError, type KubeObject, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";
import { clusterOf, type Encoded, encodeObject, isEncoded } from "../encoded.ts";
import { type Change, isEncodedList, type Scope, type Storage } from "../storage.ts";
import { User } from "../user.ts";
import { askedAfterNow } from "./after-now.ts";
import { WatchCache } from "./cache.ts";
import { everything } from "./selection.ts";

export interface FeedOptions {
  readonly definition: ResourceDefinition;
  readonly storage: Storage;
  readonly scope: Scope;
  /** Told of every failure of the source; the feed goes on trying. */
  readonly onError: (error: unknown) => void;
}

/** How long a reader waits for the stream to catch up with the source's own head, ms. */
const CONFIRM_TIMEOUT = 3_000;
/** How long a source may be silent about a version that it has, before it is listed again, ms. */
const SILENCE = 100;
/** How long a source may take to end its stream, ms. */
const STOP_TIMEOUT = 1_000;
/** Milliseconds between attempts on a failing source: doubled each time, with jitter. */
const RETRY = { first: 100, last: 10_000 } as const;

/** Keeps a {@link WatchCache} in step with a source that can list and tell changes (what client-go calls a reflector). */
export class Feed {
  readonly #options: FeedOptions;
  readonly #stop = new AbortController();
  readonly #cache = new WatchCache({ version: "0" });
  #running: Promise<void> = Promise.resolve();
  readonly #headNow = askedAfterNow(() => this.#head());
  readonly #compareNow = askedAfterNow(() => this.#compare());

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Lists once and starts to follow. @throws what the source's list throws */
  async start(): Promise<WatchCache> {
    const { items, version } = await this.#list();
    this.#cache.reset(items, version, "");
    this.#running = this.#follow();
    return this.#cache;
  }

  /** Resolves when the source's stream has ended, or does not end although it was told to. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const patience = new AbortController();
    await Promise.race([
      this.#running,
      delay(STOP_TIMEOUT, undefined, { signal: patience.signal }).catch(() => undefined),
    ]);
    patience.abort();
  }

  /**
   * Resolves when the cache has all that the source had when this was called. A source that moves on without telling its
   * progress is listed again: when that shows nothing new, its version is ours.
   */
  async confirm(signal: AbortSignal): Promise<void> {
    const head = await this.#headNow();
    if (await reachedWithin(this.#cache, head, { signal, timeout: SILENCE })) return;
    await this.#compareNow();
    await this.#cache.reach(head, { signal, timeout: CONFIRM_TIMEOUT });
  }

  async #head(): Promise<string> {
    const { storage, scope } = this.#options;
    if (storage.head !== undefined) return storage.head(scope, { signal: this.#stop.signal });
    return (await this.#list(1)).version;
  }

  async #compare(): Promise<void> {
    const cache = this.#cache;
    const { items, version } = await this.#list();
    const same = items.every(({ key, resourceVersion }) => cache.get(key)?.resourceVersion === resourceVersion);
    if (same && items.length === cache.size) cache.advance(version);
  }

  async #list(limit?: number): Promise<{ readonly items: readonly Encoded[]; readonly version: string }> {
    const { storage, scope, definition } = this.#options;
    const list = await storage.list?.(scope, {
      user: new User(scope.identity),
      signal: this.#stop.signal,
      requestId: "",
      warn: () => undefined,
      ...(limit === undefined ? {} : { limit }),
    });
    if (list === undefined || isEncodedList(list) || list.resourceVersion === undefined) {
      throw new Error(`${definition.plural}: a storage with changes() must list items with a resourceVersion`);
    }
    return { items: Array.from(list.items, (item) => this.#encode(item)), version: list.resourceVersion };
  }

  async #follow(): Promise<void> {
    const cache = this.#cache;
    let wait: number = RETRY.first;
    let lost = false;
    while (!this.#stop.signal.aborted) {
      try {
        if (lost) {
          const { items, version } = await this.#list();
          cache.reset(items, version, "too old resource version: the source of this view lost its history");
          lost = false;
        }
        const before = cache.head;
        try {
          lost = await this.#read();
        } finally {
          // A stream that told something was none that failed, however it ended.
          if (cache.head !== before) wait = RETRY.first;
        }
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        lost ||= isApiError(error) && error.code === 410;
        this.#options.onError(error);
      }
      await delay(wait * (0.5 + Math.random() / 2), undefined, { signal: this.#stop.signal, ref: false }).catch(
        () => undefined,
      );
      wait = Math.min(wait * 2, RETRY.last);
    }
  }

  /** Reads one stream to its end. @returns whether the source has lost its history */
  async #read(): Promise<boolean> {
    const { storage, scope } = this.#options;
    for await (const change of storage.changes?.(scope, this.#cache.head, { signal: this.#stop.signal }) ?? []) {
      if (this.#stop.signal.aborted) return false;
      if (change.type === "expired") return true;
      this.#apply(change);
    }
    return false;
  }

  #apply(change: Exclude<Change, { type: "expired" }>): void {
    const cache = this.#cache;
    if (change.type === "progress") {
      cache.advance(change.resourceVersion);
      return;
    }
    const object = change.type === "set" ? this.#encode(change.object) : undefined;
    const version = change.type === "set" ? (object?.resourceVersion ?? "") : change.resourceVersion;
    if (!/^[1-9]\d*$/.test(version))
      throw new Error(`${this.#options.definition.plural}: change without a resource version`);
    // A source that is asked again may repeat the last of what it told.
    if (compareResourceVersions(version, cache.head) <= 0) return;
    if (object !== undefined) cache.set(object, version);
    else if (change.type === "delete") cache.delete(this.#placed(change.key), version);
  }

  /** The object's key as its `set` had it: only a stream over all logical clusters says which one is meant. */
  #placed(key: ObjectKey): ObjectKey {
    const { cluster } = this.#options.scope;
    return cluster === "*" ? key : { ...key, cluster };
  }

  #encode(object: KubeObject | Encoded): Encoded {
    if (isEncoded(object)) return object;
    const { definition, scope } = this.#options;
    return encodeObject(object, clusterOf(object, scope), definition.selectableFields);
  }
}

async function reachedWithin(
  cache: WatchCache,
  version: string,
  options: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<boolean> {
  try {
    await cache.reach(version, options);
  } catch (error) {
    if (!isApiError(error) || options.signal.aborted) throw error;
  }
  return cache.reached(version);
}

/** The scope of a stream that everybody with the same share key can use: nothing is left out of it. */
export function widened(scope: Scope): Scope {
  return { ...scope, namespace: "", labels: everything.labels, fields: everything.fields };
}
