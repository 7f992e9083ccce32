import type { Batch, KeyRange, Watch, WatchOptions } from "../store.ts";
import { StoreError } from "../store-error.ts";
import type { Bounds, EtcdKeys } from "./conversion.ts";
import { lacksPrevious, sizeOf, toStoreEvent } from "./conversion.ts";
import type { Event, WatchResponse } from "./generated/rpc.ts";

/** Memory of unread events above which the stream pauses, in bytes. */
const FULL = 4 * 1024 * 1024;

/** Owner of watches: their stream and progress. */
export interface EtcdWatchHost {
  /** The reader requests progress. */
  wanted(watch: EtcdWatch): void;
  /** The reader has read all queued events. */
  drained(watch: EtcdWatch): void;
  /** Events were incomplete: etcd must send them again, from the last complete revision. */
  incomplete(watch: EtcdWatch): void;
  /** The watch has ended. */
  left(watch: EtcdWatch): void;
}

/** Watch of a range by one reader: its queue of unread events, and the revision that it has reached. */
export class EtcdWatch implements Watch {
  readonly bounds: Bounds;
  readonly previous: boolean;
  /** Revision up to which all events were queued or read. */
  reached: number;
  /**
   * Like `reached`, but only from the order in which etcd sends events; `reached` also advances by other conclusions. The
   * watch resumes here, so that it sees an event that contradicts such a conclusion.
   */
  sure: number;
  /** Revision of the requested progress, once it is known. */
  goal: number | undefined;
  /** Revision of the last batch since the progress request. */
  shown = 0;
  /** Whether the reader has requested progress again since. */
  again = false;
  /** Whether etcd has denied the watch to the current token. */
  denied = false;
  readonly #keys: EtcdKeys;
  readonly #host: EtcdWatchHost;
  readonly #signal: AbortSignal | undefined;
  readonly #kept: { readonly batch: Batch; readonly size: number }[] = [];
  #size = 0;
  #partial: Event[] = [];
  /** Last revision received without previous entries. */
  #lacking = 0;
  #failure: StoreError | undefined;
  #over = false;
  #waiting: PromiseWithResolvers<IteratorResult<Batch, undefined>> | undefined;
  readonly #end = (): void => this.end();

  constructor(range: KeyRange, options: WatchOptions, { keys, host }: { keys: EtcdKeys; host: EtcdWatchHost }) {
    this.bounds = keys.bounds(range);
    this.previous = options.previous ?? false;
    this.reached = Math.max(options.after, 1); // revision 1, etcd's first, has no events
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

  /** Receives events. etcd splits a large response into fragments, whose last revision may be incomplete. */
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

  /** Drops fragments of a response that will not be completed. */
  interrupted(): void {
    this.#partial = [];
  }

  /** Sets the revision at which progress is delivered, unless a batch has passed it already. */
  aim(goal: number): void {
    if (this.goal === undefined) return;
    this.goal = goal;
    if (this.shown >= goal) this.#answered();
    else this.progress(this.reached, false);
  }

  /** Records that no events are missing up to a revision; `sure` if etcd's order of events proves it. */
  progress(revision: number, sure: boolean): void {
    if (this.over || this.#partial.length > 0) return;
    this.reached = Math.max(this.reached, revision);
    if (sure) this.sure = Math.max(this.sure, revision);
    if (this.goal === undefined || this.reached < this.goal) return;
    if (this.#kept.at(-1)?.batch.events.length === 0) this.#kept.pop();
    this.#keep({ revision: this.reached, events: [] }, 0);
  }

  /** Ends the watch with an error, after the queued events. */
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

  /** Ends the watch now. */
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
   * Returns whether etcd must send the events again. etcd reads previous entries when it sends, so one may be compacted by
   * then. Even the newest etcd may also send events of a new watch before it has noted `prevKv`. Only a compacted entry is
   * missing the second time.
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
    if (revision === this.sure) return; // the watch resumed at this revision
    if (revision <= this.reached) this.#startOver(`event at revision ${revision} after progress to ${this.reached}`);
    else if (this.previous && events.some(lacksPrevious))
      this.#startOver(`the entry before revision ${revision} is compacted`);
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
    this.fail(new StoreError("Compacted", `${why}: read the range again`));
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
      return Promise.reject(
        new StoreError("Invalid", "a watch has one reader, one step at a time: await next() before the next call"),
      );
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
