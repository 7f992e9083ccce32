import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Representation } from "../encode/representation.ts";
import type { CacheEvent, CacheListener, ReadableCache } from "./cache/cache-event.ts";
import { type FanoutStats, Lane, type SentCount, type Subscriber } from "./lane.ts";
import type { Selection } from "./selection.ts";

/** Maximum number of events that a lane collects until the end of the turn. It writes larger bursts in pieces of this size. */
const BURST = 256;

/**
 * All open watches on one cache. It writes the changes of one turn of the event loop together at its end. A lane only
 * receives changes of its logical cluster, so that watches in ten thousand workspaces do not slow each other down.
 */
export class Fanout implements CacheListener, Disposable {
  readonly cache: ReadableCache;
  readonly #stats: FanoutStats;
  readonly #sent: SentCount;
  readonly #lanes = new Map<string, Lane>();
  readonly #byCluster = new Map<string, Set<Lane>>();
  /** Lanes with events to write, longest waiting first. */
  readonly #dirty = new Set<Lane>();
  readonly #subscribers = new Map<Subscriber, Lane>();
  readonly #listening: Disposable;
  #scheduled: NodeJS.Immediate | undefined;

  constructor(cache: ReadableCache, { stats, sent }: { readonly stats: FanoutStats; readonly sent: SentCount }) {
    this.cache = cache;
    this.#stats = stats;
    this.#sent = sent;
    this.#listening = cache.listen(this);
  }

  get size(): number {
    return this.#subscribers.size;
  }

  lane(selection: Selection, representation: Representation): Lane {
    const key = `${representation.key} ${selection.key}`;
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = new Lane(this.cache, { selection, representation, stats: this.#stats, sent: this.#sent, key });
      this.#lanes.set(key, lane);
      const peers = this.#byCluster.get(selection.cluster) ?? new Set();
      this.#byCluster.set(selection.cluster, peers.add(lane));
    }
    return lane;
  }

  add(subscriber: Subscriber, lane: Lane): void {
    lane.size += 1;
    this.#subscribers.set(subscriber, lane);
  }

  /** Removes a watch that has ended. */
  remove(subscriber: Subscriber): void {
    const lane = this.#subscribers.get(subscriber);
    if (lane === undefined) return;
    this.#subscribers.delete(subscriber);
    lane.dismiss(subscriber);
    lane.size -= 1;
    if (lane.size > 0) return;
    this.#lanes.delete(lane.key);
    this.#dirty.delete(lane);
    const peers = this.#byCluster.get(lane.selection.cluster);
    peers?.delete(lane);
    if (peers?.size === 0) this.#byCluster.delete(lane.selection.cluster);
  }

  event(event: CacheEvent): void {
    this.#mark(this.#byCluster.get(""));
    if (event.key.cluster !== "") this.#mark(this.#byCluster.get(event.key.cluster));
  }

  forgetting(before: number): void {
    for (const lane of this.#dirty) {
      if ((lane.pending ?? before) >= before) return;
      this.#write(lane);
    }
  }

  expired(message: string): void {
    this.fail(ApiError.expired(message));
  }

  /** Writes a BOOKMARK to every watch that wants bookmarks and is up to date. */
  bookmark(): void {
    for (const lane of this.#lanes.values()) lane.bookmark();
  }

  /** Ends every watch with an ERROR event. */
  fail(error: ApiError): void {
    for (const subscriber of [...this.#subscribers.keys()]) subscriber.fail(error);
  }

  /** Ends every watch cleanly. */
  end(): void {
    for (const subscriber of [...this.#subscribers.keys()]) subscriber.end();
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#scheduled);
    this.#listening[Symbol.dispose]();
  }

  #mark(lanes: Set<Lane> | undefined): void {
    if (lanes === undefined) return;
    const position = this.cache.next - 1;
    for (const lane of lanes) {
      lane.note(position);
      this.#dirty.add(lane);
      if (position - (lane.pending ?? position) >= BURST) this.#write(lane);
    }
    if (this.#dirty.size > 0) this.#scheduled ??= setImmediate(this.#flush);
  }

  #write(lane: Lane): void {
    this.#dirty.delete(lane);
    lane.flush();
  }

  readonly #flush = (): void => {
    this.#scheduled = undefined;
    for (const lane of this.#dirty) this.#write(lane);
  };
}
