import type { FromIndex, Issuers, ToIndex } from "./messages.ts";
import { namesIn } from "./names.ts";
import type { Place } from "./places.ts";

/** Connection of another process to an index. Disposing it sends nothing more. */
export interface IndexConnection extends Disposable {
  /** Answers a message of that process. */
  receive(message: ToIndex): void;
}

/** Source of the answers of an {@link IndexPublisher}. */
export interface PublishedIndex {
  lookup(path: string): Place;
  issuers(type: string): Issuers;
  shards(): FromIndex & { readonly type: "shards" };
}

type Send = (message: FromIndex) => void;

/** Number of names in paths to remember that other processes have asked for. */
const MOST_NAMES = 200_000;

/**
 * Answers lookups of other processes, which keep the answers, and sends them the names of changed workspaces that are in paths they
 * have asked for, before any later answer. It remembers names, and not which process keeps which path.
 */
export class IndexPublisher {
  readonly #index: PublishedIndex;
  readonly #connected = new Set<Send>();
  /** Names in paths of lookups, which others may keep. */
  readonly #asked = new Set<string>();
  readonly #changed = new Set<string>();
  #typesChanged = false;
  #isFlushing = false;

  constructor(index: PublishedIndex) {
    this.#index = index;
  }

  /** Connects another process, and sends it the shards. @param send sends in order */
  connect(send: Send): IndexConnection {
    this.#connected.add(send);
    send(this.#index.shards());
    return {
      receive: (message) => this.#answer(message, send),
      [Symbol.dispose]: () => this.#connected.delete(send),
    };
  }

  /** Reports names of changed workspaces and logical clusters. */
  readonly names = (names: readonly string[]): void => {
    for (const name of names) {
      if (!this.#asked.has(name)) continue;
      this.#changed.add(name);
      this.#flushSoon();
    }
  };

  /** Reports that token issuers of types have changed. */
  readonly types = (): void => {
    this.#typesChanged = true;
    this.#flushSoon();
  };

  /** Reports that shards have changed: other processes forget all places. */
  readonly shards = (): void => {
    this.#asked.clear();
    this.#changed.clear();
    if (this.#connected.size > 0) this.#send(this.#index.shards());
  };

  /** Sends nothing more. */
  close(): void {
    this.#connected.clear();
  }

  #answer(message: ToIndex, send: Send): void {
    this.#flush();
    const { id } = message;
    if (message.type === "issuers") {
      send({ type: "issuers", id, issuers: this.#index.issuers(message.of) });
      return;
    }
    if (this.#asked.size > MOST_NAMES) this.shards();
    const place = this.#index.lookup(message.path);
    for (const name of namesIn(message.path)) this.#asked.add(name);
    // A logical cluster's own name is kept as a path too.
    if (place.kind === "cluster") this.#asked.add(place.cluster);
    send({ type: "place", id, place: essential(place) });
  }

  /** Sends changes together: a list of a shard has many. Within the turn, and before any answer. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    if (!this.#isFlushing) return;
    this.#isFlushing = false;
    const names = [...this.#changed];
    this.#changed.clear();
    for (const name of names) this.#asked.delete(name);
    if (names.length > 0) this.#send({ type: "changed", names });
    if (this.#typesChanged) this.#send({ type: "types" });
    this.#typesChanged = false;
  }

  #send(message: FromIndex): void {
    for (const send of this.#connected) send(message);
  }
}

/** Leaves out what requests do not need. */
function essential(place: Place): Place {
  if (place.kind === "cluster") {
    const { kind, cluster, shard, type } = place;
    return { kind, cluster, shard, type };
  }
  if (place.kind !== "mount") return { kind: place.kind, reason: place.reason };
  const { kind, url, workspace, rest } = place;
  return { kind, url, workspace, rest };
}
