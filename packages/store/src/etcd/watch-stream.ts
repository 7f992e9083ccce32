import type { ClientDuplexStream } from "@grpc/grpc-js";
import { StoreError } from "../store-error.ts";
import type { EtcdWatch } from "./etcd-watch.ts";
import { type ResponseHeader, WatchCreateRequest, type WatchRequest, type WatchResponse } from "./generated/rpc.ts";
import type { Member } from "./member.ts";

/** How long a slow reader may hold up the others before its watch is taken off the stream, ms. */
const HOLD = 50;
/** How long a watch that began in the past must have been quiet before etcd has sent the past, ms: etcd takes 100. */
const SETTLED = 500;

/** A watch as etcd knows it on this stream. */
interface StreamedWatch {
  readonly id: number;
  readonly watch: EtcdWatch;
  /** Whether etcd was asked to begin at what was told already. */
  readonly exact: boolean;
  /** How many progress requests etcd may answer without knowing of it. */
  before: number;
  /** The revision that etcd had when it began; `undefined` until then. */
  began: number | undefined;
  /** Since when nothing has come, as of `performance.now()`. */
  quietSince: number;
}

/** What a stream tells its opener. */
export interface WatchStreamEvents {
  /** A watch was denied, which may be for the token's age. */
  denied(watch: EtcdWatch, reason: string): void;
  /** Whether a member is new enough for its progress notices to be believed. */
  trusted(member: Member): Promise<boolean>;
  /** How far the member is. */
  observed(header: ResponseHeader): void;
  /** The member has begun to send what comes after a revision that it has not got: it lags, or is another etcd's. */
  behind(): void;
}

/** One stream to a member, with all watches of the store on it. When it breaks, another takes them up. */
export class WatchStream {
  readonly member: Member;
  /** Resolves with why it broke. */
  readonly broken: Promise<Error>;
  /** Whether etcd has said anything on it, and nothing that we do not understand: the next stream is opened at once. */
  heard = false;
  readonly #call: ClientDuplexStream<WatchRequest, WatchResponse>;
  readonly #events: WatchStreamEvents;
  readonly #streamed = new Map<number, StreamedWatch>();
  readonly #byWatch = new Map<EtcdWatch, StreamedWatch>();
  /** Those that etcd has not answered: it does so in their order. */
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
      call.on("end", () => resolve(new Error("etcd has ended the stream")));
    });
    call.on("data", (response: WatchResponse) => this.#receive(response));
  }

  has(watch: EtcdWatch): boolean {
    return this.#byWatch.has(watch);
  }

  /** Whether etcd has begun to send what happens. */
  follows(watch: EtcdWatch): boolean {
    return this.#byWatch.get(watch)?.began !== undefined;
  }

  /**
   * Puts a watch on the stream. etcd refuses one that begins before a compaction, and would let pass one that begins at it,
   * though what was deleted there is gone; so it is asked to begin at what is known already. `exact: false` saves the time
   * that this costs where nothing newer than that is known of; if etcd knows more, it is asked again.
   */
  add(watch: EtcdWatch, exact: boolean): void {
    const streamed: StreamedWatch = { id: ++this.#ids, watch, exact, before: 0, began: undefined, quietSince: 0 };
    this.#streamed.set(streamed.id, streamed);
    this.#byWatch.set(watch, streamed);
    this.#asked.push(streamed);
    const createRequest = WatchCreateRequest.fromPartial({
      ...watch.bounds,
      startRevision: exact ? watch.sure : watch.sure + 1,
      prevKv: watch.previous,
      watchId: streamed.id,
      fragment: true,
    });
    this.#write({ createRequest });
  }

  /** Has etcd begin a watch again, where it is sure to have come. */
  again(watch: EtcdWatch): void {
    this.remove(watch);
    this.add(watch, true);
  }

  /** Takes a watch off. */
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
   * Asks how far etcd is, and resolves with its next answer. It answers when it has sent all that was before, or not at
   * all; and since nothing says which question an answer is to, a watch believes the one that must be to a question after
   * its beginning: after some that were not answered that takes as many more.
   */
  async requestProgress(): Promise<void> {
    this.#requests++;
    this.#answer ??= Promise.withResolvers();
    this.#write({ progressRequest: {} });
    await Promise.race([this.#answer.promise, this.broken]);
  }

  /** Whether etcd's answers to {@link requestProgress} are believed. */
  async believed(): Promise<boolean> {
    this.#believed ??= await this.#events.trusted(this.member);
    return this.#believed;
  }

  /** Whether etcd sends what happens as it happens, or has had the time to send what happened before. */
  settled(watch: EtcdWatch): boolean {
    const streamed = this.#byWatch.get(watch);
    if (streamed?.began === undefined) return false;
    return !streamed.exact || performance.now() - streamed.quietSince > SETTLED;
  }

  /** A reader that was too slow has caught up. */
  resume(watch: EtcdWatch): void {
    if (!this.#held.delete(watch) || this.#held.size > 0) return;
    clearTimeout(this.#release);
    this.#call.resume();
  }

  /** Breaks it. */
  drop(): void {
    this.#over = true;
    clearTimeout(this.#release);
    this.#call.cancel();
    for (const { watch } of this.#streamed.values()) watch.interrupted();
    this.#streamed.clear();
    this.#byWatch.clear();
    this.#call.resume(); // its end comes after what it still holds
  }

  #write(request: WatchRequest): void {
    if (!this.#over) this.#call.write(request);
  }

  #receive(response: WatchResponse): void {
    if (this.#over) return;
    this.heard = true;
    if (response.header !== undefined) this.#events.observed(response.header);
    const streamed = response.created ? this.#asked.shift() : this.#streamed.get(response.watchId);
    if (streamed !== undefined && this.#streamed.get(streamed.id) !== streamed) return; // taken off meanwhile
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

  /** Who has not caught up is watched again when it has; the others wait no longer. */
  #takeOff(): void {
    for (const watch of [...this.#held]) this.remove(watch);
  }

  #canceled(streamed: StreamedWatch | undefined, { compactRevision, cancelReason }: WatchResponse): void {
    if (streamed === undefined) return;
    const { watch } = streamed;
    this.remove(watch); // etcd tells of no progress while it holds one that it has canceled for a compaction
    if (compactRevision > 0) watch.fail(StoreError.compacted(watch.sure, compactRevision));
    else if (/permission|auth|user/.test(cancelReason)) this.#events.denied(watch, cancelReason);
    else {
      this.heard = false;
      this.drop(); // for a reason that may pass: all begin anew
    }
  }

  /** etcd is at a revision, and has sent all before to those watches that it knew of when it was asked. */
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
