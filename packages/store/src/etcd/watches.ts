import { Backoff } from "@virtual-workspaces/transport";
import { checkCount, checkRange } from "../engine/limits.ts";
import type { KeyRange, Watch, WatchOptions } from "../store.ts";
import { StoreError } from "../store-error.ts";
import type { EtcdKeys } from "./conversion.ts";
import { verdict } from "./errors.ts";
import { EtcdWatch, type EtcdWatchHost } from "./etcd-watch.ts";
import type { Member } from "./member.ts";
import type { Members } from "./members.ts";
import { watch as watchMethod } from "./methods.ts";
import { Progress, trusted } from "./progress.ts";
import type { RangeReader } from "./range-reader.ts";
import type { RevisionTracker } from "./revision-tracker.ts";
import { WatchStream } from "./watch-stream.ts";

/** Backoff of a broken stream, in ms. */
const RETRY = { first: 50, most: 1000, jitter: [1, 1] } as const;

/** All watches of a store, on one stream while there are any. */
export class Watches implements EtcdWatchHost, Disposable {
  readonly #members: Members;
  readonly #reader: RangeReader;
  readonly #revisions: RevisionTracker;
  readonly #keys: EtcdKeys;
  readonly #all = new Set<EtcdWatch>();
  readonly #progress: Progress;
  #stream: WatchStream | undefined;
  #keeping = false;

  constructor(
    members: Members,
    keys: EtcdKeys,
    { reader, revisions }: { readonly reader: RangeReader; readonly revisions: RevisionTracker },
  ) {
    this.#members = members;
    this.#reader = reader;
    this.#revisions = revisions;
    this.#keys = keys;
    this.#progress = new Progress(members, reader, () => this.#stream);
    members.onleave = (member) => {
      if (this.#stream?.member === member) this.#stream.drop();
    };
    revisions.onreplaced = (error) => {
      this.#failAll(error);
      this.#stream?.drop(); // another stream may still hold the watches
    };
  }

  watch(range: KeyRange, options: WatchOptions): Watch {
    const watch = new EtcdWatch(range, options, { keys: this.#keys, host: this });
    try {
      this.#check(range, options);
    } catch (error) {
      watch.fail(error as StoreError);
      return watch;
    }
    if (options.signal?.aborted) watch.end();
    else {
      this.#all.add(watch);
      if (this.#stream === undefined) void this.#keepStream();
      else this.#add(this.#stream, watch);
    }
    return watch;
  }

  wanted(watch: EtcdWatch): void {
    this.#progress.want(watch);
  }

  drained(watch: EtcdWatch): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    if (stream.has(watch)) stream.resume(watch);
    else this.#add(stream, watch);
  }

  incomplete(watch: EtcdWatch): void {
    if (this.#stream?.has(watch)) this.#stream.again(watch);
  }

  left(watch: EtcdWatch): void {
    this.#all.delete(watch);
    this.#stream?.remove(watch);
  }

  [Symbol.dispose](): void {
    for (const watch of [...this.#all]) watch.end();
    this.#stream?.drop();
  }

  /** Opens one stream after another while there are watches. */
  async #keepStream(): Promise<void> {
    if (this.#keeping) return;
    this.#keeping = true;
    for (const backoff = new Backoff(RETRY); this.#all.size > 0 && !this.#members.closed.aborted; ) {
      const { current } = this.#members;
      const stream = await this.#open(current);
      if (stream?.heard) backoff.reset();
      else this.#members.leave(current);
      if (this.#all.size > 0) await this.#members.pause(backoff.next());
    }
    this.#keeping = false;
  }

  /** Opens a stream, and resolves when it has broken. */
  async #open(member: Member): Promise<WatchStream | undefined> {
    let stream: WatchStream | undefined;
    let cause: unknown;
    try {
      stream = new WatchStream(await this.#members.stream(watchMethod, member), member, {
        denied: (watch, reason) => this.#denied(watch, reason),
        trusted: (asked) => trusted(this.#members, asked),
        observed: (header) => {
          this.#members.outage.answered();
          this.#revisions.observe(header);
        },
        behind: () => void this.#reader.head(this.#members.closed).catch(() => undefined),
      });
      this.#stream = stream;
      for (const watch of this.#all) this.#add(stream, watch);
      cause = await stream.broken;
    } catch (error) {
      cause = error;
    }
    this.#stream = undefined;
    stream?.drop();
    const found = verdict(cause, member.name);
    if (!this.#members.closed.aborted && (found.is === "lost" || found.is === "refused"))
      this.#members.outage.failed(found.error);
    if (found.is === "token") this.#members.forgetToken();
    if (found.is === "final") this.#failAll(found.error);
    return stream;
  }

  #check(range: KeyRange, { after }: WatchOptions): void {
    if (this.#members.closed.aborted) throw StoreError.closed(this.#members.name);
    checkRange(range);
    checkCount("revision to watch after", after, 0);
  }

  #add(stream: WatchStream, watch: EtcdWatch): void {
    stream.add(watch, watch.sure < this.#revisions.revision);
  }

  #failAll(error: StoreError): void {
    for (const watch of [...this.#all]) watch.fail(error);
  }

  #denied(watch: EtcdWatch, reason: string): void {
    if (watch.denied) {
      watch.fail(new StoreError("Denied", `${this.#members.name}: ${reason}`));
      return;
    }
    watch.denied = true;
    this.#members.forgetToken();
    this.#stream?.drop();
  }
}
