import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Representation } from "../encode/representation.ts";
import type { CacheEvent, CacheListener, ReadableCache } from "./cache/cache-event.ts";
import { type FanoutStats, Lane, type SentCount, type Subscriber } from "./lane.ts";
import type { Selection } from "./selection.ts";

/** How many events may come while one waits for the end of the turn; a larger burst is written in pieces of this. */
const BURST = 256;

/**
 * All open watches on one cache. Changes of one turn of the event loop are written together at its end. A lane hears
 * only of its own logical cluster, so that watchers in ten thousand workspaces do not cost each other anything.
 */
export class Fanout implements CacheListener, Disposable {
  readonly cache: ReadableCache;
  readonly #stats: FanoutStats;
  readonly #sent: SentCount;
  readonly #lanes = new Map<string, Lane>();
  readonly #byCluster = new Map<string, Set<Lane>>();
  /** The lanes with something to write, by how long it has waited. */
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

  /** Forgets a watch that is over. */
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

  /** A BOOKMARK for every watch that asked for them and is up to date. */
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
