import type { Batch, KeyRange, Watch, WatchOptions } from "../store.ts";
import { StoreError } from "../store-error.ts";
import type { Bounds, EtcdKeys } from "./conversion.ts";
import { lacksPrevious, sizeOf, toStoreEvent } from "./conversion.ts";
import type { Event, WatchResponse } from "./generated/rpc.ts";

/** What is not read may take so much memory, bytes, and then etcd has to wait. */
const FULL = 4 * 1024 * 1024;

/** What a reader needs done. */
export interface EtcdWatchHost {
  /** Somebody asks for progress. */
  wanted(watch: EtcdWatch): void;
  /** All that was kept has been read. */
  drained(watch: EtcdWatch): void;
  /** What came is not whole: etcd is to send it again, from where it was. */
  incomplete(watch: EtcdWatch): void;
  /** Nobody reads it any more. */
  left(watch: EtcdWatch): void;
}

/** A range being watched by one reader: what has come and is not read yet, and how far it is told of. */
export class EtcdWatch implements Watch {
  readonly bounds: Bounds;
  readonly previous: boolean;
  /** Every event up to here has been kept for the reader or read. */
  reached: number;
  /**
   * As `told`, by the order in which etcd sends events. Only `told` goes on where progress was concluded in another way:
   * this is where to resume, so that an event which contradicts the conclusion is seen.
   */
  sure: number;
  /** The revision that progress was asked for, once it is known. */
  goal: number | undefined;
  /** The revision of the last batch since progress was asked for. */
  shown = 0;
  /** Whether progress was asked for once more since. */
  again = false;
  /** Whether etcd has refused it to a token of ours once. */
  denied = false;
  readonly #keys: EtcdKeys;
  readonly #host: EtcdWatchHost;
  readonly #signal: AbortSignal | undefined;
  readonly #kept: { readonly batch: Batch; readonly size: number }[] = [];
  #size = 0;
  #partial: Event[] = [];
  /** The last revision that came without what stood there before. */
  #lacking = 0;
  #failure: StoreError | undefined;
  #over = false;
  #waiting: PromiseWithResolvers<IteratorResult<Batch, undefined>> | undefined;
  readonly #end = (): void => this.end();

  constructor(range: KeyRange, options: WatchOptions, { keys, host }: { keys: EtcdKeys; host: EtcdWatchHost }) {
    this.bounds = keys.bounds(range);
    this.previous = options.previous ?? false;
    this.reached = Math.max(options.after, 1); // nothing happens at 1, etcd's first
    this.sure = this.reached;
    this.#keys = keys;
    this.#host = host;
    this.#signal = options.signal;
    this.#signal?.addEventListener("abort", this.#end, { once: true });
  }

  get over(): boolean {
    return this.#over || this.#failure !== undefined;
  }

  get full(): boolean {
    return this.#size > FULL;
  }

  requestProgress(): void {
    if (!this.over) this.#host.wanted(this);
  }

  [Symbol.asyncIterator](): AsyncIterator<Batch, undefined> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.end();
        return { done: true, value: undefined };
      },
    };
  }

  /** Takes what etcd tells. A large answer comes in pieces, whose last revision may not be complete. */
  receive({ events, fragment }: WatchResponse): void {
    if (this.#partial.length > 0) this.#partial.push(...events);
    else this.#partial = events;
    const all = this.#partial;
    const last = all.at(-1)?.kv?.modRevision;
    const end = fragment ? all.findIndex(({ kv }) => kv?.modRevision === last) : all.length;
    this.#partial = all.slice(end);
    for (let from = 0; from < end && !this.over; ) {
      const revision = all[from]?.kv?.modRevision ?? 0;
      let to = from + 1;
      while (to < end && all[to]?.kv?.modRevision === revision) to++;
      const batch = all.slice(from, to);
      if (this.#isToComeAgain(revision, batch)) return;
      this.#happened(revision, batch);
      from = to;
    }
  }

  /** Forgets pieces of an answer of which the rest will not come. */
  interrupted(): void {
    this.#partial = [];
  }

  /** Progress is to be told of when it has come to a revision, unless a batch has told of that already. */
  aim(goal: number): void {
    if (this.goal === undefined) return;
    this.goal = goal;
    if (this.shown >= goal) this.#answered();
    else this.progress(this.reached, false);
  }

  /** Nothing further happened up to a revision; `sure` when etcd's order of sending says so. */
  progress(revision: number, sure: boolean): void {
    if (this.over || this.#partial.length > 0) return;
    this.reached = Math.max(this.reached, revision);
    if (sure) this.sure = Math.max(this.sure, revision);
    if (this.goal === undefined || this.reached < this.goal) return;
    if (this.#kept.at(-1)?.batch.events.length === 0) this.#kept.pop();
    this.#keep({ revision: this.reached, events: [] }, 0);
  }

  /** Ends it with an error, after what was kept is read. */
  fail(error: StoreError): void {
    if (this.over) return;
    this.#failure = error;
    this.#partial = [];
    this.#released();
    if (this.#waiting === undefined) return;
    this.#over = true;
    this.#waiting.reject(error);
    this.#waiting = undefined;
  }

  /** Ends it at once. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#kept.length = 0;
    this.#partial = [];
    this.#waiting?.resolve({ done: true, value: undefined });
    this.#waiting = undefined;
    this.#released();
  }

  #released(): void {
    this.#signal?.removeEventListener("abort", this.#end);
    this.#host.left(this);
  }

  /**
   * etcd looks up what stood there before when it sends. What lacks that may have been compacted, or be of the first moment of
   * a watch: etcd, the newest too, may send between taking the watch and noting that this is wanted. Only what was compacted
   * lacks it again.
   */
  #isToComeAgain(revision: number, events: readonly Event[]): boolean {
    const isNew = revision > this.reached && revision !== this.#lacking;
    if (!this.previous || !isNew || !events.some(lacksPrevious)) return false;
    this.#lacking = revision;
    this.#partial = [];
    this.#host.incomplete(this);
    return true;
  }

  #happened(revision: number, events: readonly Event[]): void {
    if (revision === this.sure) return; // etcd was asked to begin there
    if (revision <= this.reached)
      this.#startOver(`something happened at revision ${revision}, and ${this.reached} had been told`);
    else if (this.previous && events.some(lacksPrevious))
      this.#startOver(`what stood before revision ${revision} has been compacted`);
    else {
      this.reached = revision;
      this.sure = revision;
      const storeEvents = events.map((event) => toStoreEvent(event, this.#keys));
      this.#keep(
        { revision, events: storeEvents },
        events.reduce((sum, event) => sum + sizeOf(event), 0),
      );
    }
  }

  #startOver(why: string): void {
    this.fail(new StoreError("Compacted", `${why}: read the range anew`));
  }

  #keep(batch: Batch, size: number): void {
    this.shown = batch.revision;
    if (this.goal !== undefined && batch.revision >= this.goal) this.#answered();
    if (this.#waiting !== undefined) {
      this.#waiting.resolve({ done: false, value: batch });
      this.#waiting = undefined;
      return;
    }
    this.#kept.push({ batch, size });
    this.#size += size;
  }

  #answered(): void {
    this.goal = this.again ? Number.POSITIVE_INFINITY : undefined;
    this.again = false;
    this.shown = 0;
  }

  #next(): Promise<IteratorResult<Batch, undefined>> {
    if (this.#waiting !== undefined)
      return Promise.reject(new StoreError("Invalid", "a watch is read by one reader, step by step"));
    const kept = this.#kept.shift();
    if (kept !== undefined) {
      this.#size -= kept.size;
      if (this.#kept.length === 0 && !this.over) this.#host.drained(this);
      return Promise.resolve({ done: false, value: kept.batch });
    }
    if (this.#over) return Promise.resolve({ done: true, value: undefined });
    if (this.#failure !== undefined) {
      this.#over = true;
      return Promise.reject(this.#failure);
    }
    this.#waiting = Promise.withResolvers();
    return this.#waiting.promise;
  }
}
