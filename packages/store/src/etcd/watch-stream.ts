import type { ClientDuplexStream } from "@grpc/grpc-js";
import { StoreError } from "../store-error.ts";
import type { EtcdWatch } from "./etcd-watch.ts";
import { type ResponseHeader, WatchCreateRequest, type WatchRequest, type WatchResponse } from "./generated/rpc.ts";
import type { Member } from "./member.ts";

/** Time that a slow reader may block the others before its watch is removed from the stream, in ms. */
const HOLD = 50;
/** Quiet time after which etcd has sent the past of a watch that began there, in ms. etcd needs 100. */
const SETTLED = 500;

/** State of a watch on this stream. */
interface StreamedWatch {
  readonly id: number;
  readonly watch: EtcdWatch;
  /** Whether the watch started at a revision that was delivered already. */
  readonly exact: boolean;
  /** Revision at which it starts, inclusive. */
  readonly start: number;
  /** Number of progress responses that may predate the watch. */
  before: number;
  /** etcd's revision when the watch was created; `undefined` before that. */
  began: number | undefined;
  /** Time of the last event, of the `performance.now()` clock. */
  quietSince: number;
}

/** Callbacks of a stream. */
export interface WatchStreamEvents {
  /** etcd denied a watch, perhaps because the token is too old. */
  denied(watch: EtcdWatch, reason: string): void;
  /** Returns whether progress notifications of the member are reliable. */
  trusted(member: Member): Promise<boolean>;
  /** The member reported its revision. */
  observed(header: ResponseHeader): void;
  /** The member is at an older revision than the watch: it lags, or belongs to another etcd. */
  behind(): void;
}

/** Stream to one member with all watches of the store. When it breaks, they move to another one. */
export class WatchStream {
  readonly member: Member;
  /** Resolves with the error that broke the stream. */
  readonly broken: Promise<Error>;
  /** Whether etcd has sent valid responses on it: the next stream then opens without a pause. */
  heard = false;
  readonly #call: ClientDuplexStream<WatchRequest, WatchResponse>;
  readonly #events: WatchStreamEvents;
  readonly #streamed = new Map<number, StreamedWatch>();
  readonly #byWatch = new Map<EtcdWatch, StreamedWatch>();
  /** Watches that etcd has not confirmed. It does so in their order. */
  readonly #asked: StreamedWatch[] = [];
  readonly #held = new Set<EtcdWatch>();
  #release: NodeJS.Timeout | undefined;
  #ids = 0;
  #requests = 0;
  #answer: PromiseWithResolvers<void> | undefined;
  #believed: boolean | undefined;
  #over = false;
  #notices = 0;

  constructor(call: ClientDuplexStream<WatchRequest, WatchResponse>, member: Member, events: WatchStreamEvents) {
    this.member = member;
    this.#call = call;
    this.#events = events;
    this.broken = new Promise((resolve) => {
      call.on("error", resolve);
      call.on("end", () => resolve(new Error("etcd ended the stream")));
    });
    call.on("data", (response: WatchResponse) => this.#receive(response));
  }

  has(watch: EtcdWatch): boolean {
    return this.#byWatch.has(watch);
  }

  /** Returns whether etcd has created the watch. */
  follows(watch: EtcdWatch): boolean {
    return this.#byWatch.get(watch)?.began !== undefined;
  }

  /**
   * Adds a watch to the stream. etcd rejects a watch that begins before a compaction, but accepts one that begins at it,
   * although deletions there are lost. So the watch begins at a known revision. `exact: false` skips that cost if nothing
   * newer is known; if etcd has a newer revision, the watch is created again.
   */
  add(watch: EtcdWatch, exact: boolean): void {
    const start = exact ? watch.sure : watch.sure + 1;
    const streamed: StreamedWatch = {
      id: ++this.#ids,
      watch,
      exact,
      start,
      before: 0,
      began: undefined,
      quietSince: 0,
    };
    this.#streamed.set(streamed.id, streamed);
    this.#byWatch.set(watch, streamed);
    this.#asked.push(streamed);
    const createRequest = WatchCreateRequest.fromPartial({
      ...watch.bounds,
      startRevision: start,
      prevKv: watch.previous,
      watchId: streamed.id,
      fragment: true,
    });
    this.#write({ createRequest });
  }

  /** Creates a watch again at its last certain revision. */
  again(watch: EtcdWatch): void {
    this.remove(watch);
    this.add(watch, true);
  }

  /**
   * Creates watches again that start after a revision, one revision earlier. While etcd has not reached the start of a watch,
   * it reports no progress on the stream (etcd-io/etcd#20229, in releases since July 2025).
   */
  startBy(revision: number): void {
    for (const { watch, start, began } of [...this.#streamed.values()])
      if (start > revision && began !== undefined) this.again(watch);
  }

  /** Removes a watch. */
  remove(watch: EtcdWatch): void {
    const streamed = this.#byWatch.get(watch);
    if (streamed === undefined) return;
    this.#byWatch.delete(watch);
    this.#streamed.delete(streamed.id);
    this.#write({ cancelRequest: { watchId: streamed.id } });
    watch.interrupted();
    this.resume(watch);
  }

  /**
   * Requests progress, and resolves with the next response. etcd answers after all earlier events, or never, and its
   * responses do not name their requests. A watch therefore believes the first response that must follow its creation;
   * unanswered requests delay that by as many responses.
   */
  async requestProgress(): Promise<void> {
    this.#requests++;
    this.#answer ??= Promise.withResolvers();
    this.#write({ progressRequest: {} });
    await Promise.race([this.#answer.promise, this.broken]);
  }

  /** Returns whether progress responses of the member are reliable. */
  async believed(): Promise<boolean> {
    this.#believed ??= await this.#events.trusted(this.member);
    return this.#believed;
  }

  /** Returns whether etcd sends live events, or has had the time to send past ones. */
  settled(watch: EtcdWatch): boolean {
    const streamed = this.#byWatch.get(watch);
    if (streamed?.began === undefined) return false;
    return !streamed.exact || performance.now() - streamed.quietSince > SETTLED;
  }

  /** Resumes after a slow reader has caught up. */
  resume(watch: EtcdWatch): void {
    if (!this.#held.delete(watch) || this.#held.size > 0) return;
    clearTimeout(this.#release);
    this.#call.resume();
  }

  /** Closes the stream. */
  drop(): void {
    this.#over = true;
    clearTimeout(this.#release);
    this.#call.cancel();
    for (const { watch } of this.#streamed.values()) watch.interrupted();
    this.#streamed.clear();
    this.#byWatch.clear();
    this.#call.resume(); // the end of the call follows its buffered responses
  }

  #write(request: WatchRequest): void {
    if (!this.#over) this.#call.write(request);
  }

  #receive(response: WatchResponse): void {
    if (this.#over) return;
    this.heard = true;
    if (response.header !== undefined) this.#events.observed(response.header);
    const streamed = response.created ? this.#asked.shift() : this.#streamed.get(response.watchId);
    if (streamed !== undefined && this.#streamed.get(streamed.id) !== streamed) return; // removed meanwhile
    if (response.created && !response.canceled) this.#begun(streamed, response);
    else if (response.canceled) this.#canceled(streamed, response);
    else if (response.events.length === 0 && !response.fragment) this.#notice(response);
    else if (streamed !== undefined) this.#told(streamed, response);
  }

  #begun(streamed: StreamedWatch | undefined, { header }: WatchResponse): void {
    if (streamed === undefined) return;
    const revision = header?.revision ?? 0;
    if (revision < streamed.watch.sure) this.#events.behind();
    if (!streamed.exact && revision > streamed.watch.sure) {
      this.again(streamed.watch);
      return;
    }
    streamed.watch.denied = false;
    streamed.began = revision;
    streamed.before = this.#requests;
    streamed.quietSince = performance.now();
  }

  #told(streamed: StreamedWatch, response: WatchResponse): void {
    const { watch } = streamed;
    streamed.quietSince = performance.now();
    watch.receive(response);
    if (!watch.full || watch.over) return;
    if (this.#held.size === 0) {
      this.#call.pause();
      this.#release = setTimeout(() => this.#takeOff(), HOLD);
    }
    this.#held.add(watch);
  }

  /** Removes the watches of slow readers, which return once they have caught up. */
  #takeOff(): void {
    for (const watch of [...this.#held]) this.remove(watch);
  }

  #canceled(streamed: StreamedWatch | undefined, { compactRevision, cancelReason }: WatchResponse): void {
    if (streamed === undefined) return;
    const { watch } = streamed;
    this.remove(watch); // etcd reports no progress while it holds a watch that it canceled for a compaction
    if (compactRevision > 0) watch.fail(StoreError.compacted(watch.sure, compactRevision));
    else if (/permission|auth|user/.test(cancelReason)) this.#events.denied(watch, cancelReason);
    else {
      this.heard = false;
      this.drop(); // possibly transient: all watches start again
    }
  }

  /** etcd has reached a revision and sent all earlier events to the watches that existed at the request. */
  #notice({ header }: WatchResponse): void {
    this.#notices++;
    this.#answer?.resolve();
    this.#answer = undefined;
    if (!this.#believed) return;
    const revision = header?.revision ?? 0;
    for (const { watch, began, before } of this.#streamed.values())
      if (began !== undefined && (revision > began || this.#notices > before)) watch.progress(revision, true);
  }
}
