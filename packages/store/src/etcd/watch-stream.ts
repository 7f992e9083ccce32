import type { ClientDuplexStream } from "@grpc/grpc-js";
import { StoreError } from "../store-error.ts";
import type { Following } from "./etcd-watch.ts";
import { type ResponseHeader, WatchCreateRequest, type WatchRequest, type WatchResponse } from "./generated/rpc.ts";
import type { Member } from "./member.ts";

/** How long a slow reader may hold up the others before its watch is taken off the line, ms. */
const HOLD = 50;
/** How long a watch that began in the past must have been quiet before etcd has sent the past, ms: etcd takes 100. */
const SETTLED = 500;

/** A watch as etcd knows it on this line. */
interface Leg {
  readonly id: number;
  readonly following: Following;
  /** Whether etcd was asked to begin at what was told already. */
  readonly exact: boolean;
  /** How many progress requests etcd may answer without knowing of it. */
  before: number;
  /** The revision that etcd had when it began; `undefined` until then. */
  began: number | undefined;
  /** Since when nothing has come, as of `performance.now()`. */
  quietSince: number;
}

/** What a line tells whoever has opened it. */
export interface LineEvents {
  /** A watch was denied, which may be for the token's age. */
  denied(following: Following, reason: string): void;
  /** Whether a member is new enough for its progress notices to be believed. */
  trusted(member: Member): Promise<boolean>;
  /** How far the member is. */
  told(header: ResponseHeader): void;
  /** The member has begun to send what comes after a revision that it has not got: it lags, or is another etcd's. */
  behind(): void;
}

/** One stream to a member, with all watches of the store on it. When it breaks, another takes them up. */
export class Line {
  readonly member: Member;
  /** Resolves with why it broke. */
  readonly broken: Promise<Error>;
  /** Whether etcd has said anything on it, and nothing that we do not understand: the next line is made at once. */
  heard = false;
  readonly #call: ClientDuplexStream<WatchRequest, WatchResponse>;
  readonly #events: LineEvents;
  readonly #legs = new Map<number, Leg>();
  readonly #byFollowing = new Map<Following, Leg>();
  /** Those that etcd has not answered: it does so in their order. */
  readonly #asked: Leg[] = [];
  readonly #held = new Set<Following>();
  #release: NodeJS.Timeout | undefined;
  #ids = 0;
  #requests = 0;
  #answer: PromiseWithResolvers<void> | undefined;
  #believed: boolean | undefined;
  #over = false;
  #notices = 0;

  constructor(call: ClientDuplexStream<WatchRequest, WatchResponse>, member: Member, events: LineEvents) {
    this.member = member;
    this.#call = call;
    this.#events = events;
    this.broken = new Promise((resolve) => {
      call.on("error", resolve);
      call.on("end", () => resolve(new Error("etcd has ended the stream")));
    });
    call.on("data", (response: WatchResponse) => this.#receive(response));
  }

  has(following: Following): boolean {
    return this.#byFollowing.has(following);
  }

  /** Whether etcd has begun to send what happens. */
  follows(following: Following): boolean {
    return this.#byFollowing.get(following)?.began !== undefined;
  }

  /**
   * Puts a watch on the line. etcd refuses one that begins before a compaction, and would let pass one that begins at it,
   * though what was deleted there is gone; so it is asked to begin at what is known already. `exact: false` saves the time
   * that this costs where nothing newer than that is known of; if etcd knows more, it is asked again.
   */
  add(following: Following, exact: boolean): void {
    const leg: Leg = { id: ++this.#ids, following, exact, before: 0, began: undefined, quietSince: 0 };
    this.#legs.set(leg.id, leg);
    this.#byFollowing.set(following, leg);
    this.#asked.push(leg);
    const createRequest = WatchCreateRequest.fromPartial({
      ...following.bounds,
      startRevision: exact ? following.sure : following.sure + 1,
      prevKv: following.previous,
      watchId: leg.id,
      fragment: true,
    });
    this.#write({ createRequest });
  }

  /** Has etcd begin a watch again, where it is sure to have come. */
  again(following: Following): void {
    this.remove(following);
    this.add(following, true);
  }

  /** Takes a watch off. */
  remove(following: Following): void {
    const leg = this.#byFollowing.get(following);
    if (leg === undefined) return;
    this.#byFollowing.delete(following);
    this.#legs.delete(leg.id);
    this.#write({ cancelRequest: { watchId: leg.id } });
    following.interrupted();
    this.resume(following);
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
  settled(following: Following): boolean {
    const leg = this.#byFollowing.get(following);
    if (leg?.began === undefined) return false;
    return !leg.exact || performance.now() - leg.quietSince > SETTLED;
  }

  /** A reader that was too slow has caught up. */
  resume(following: Following): void {
    if (!this.#held.delete(following) || this.#held.size > 0) return;
    clearTimeout(this.#release);
    this.#call.resume();
  }

  /** Breaks it. */
  drop(): void {
    this.#over = true;
    clearTimeout(this.#release);
    this.#call.cancel();
    for (const { following } of this.#legs.values()) following.interrupted();
    this.#legs.clear();
    this.#byFollowing.clear();
    this.#call.resume(); // its end comes after what it still holds
  }

  #write(request: WatchRequest): void {
    if (!this.#over) this.#call.write(request);
  }

  #receive(response: WatchResponse): void {
    if (this.#over) return;
    this.heard = true;
    if (response.header !== undefined) this.#events.told(response.header);
    const leg = response.created ? this.#asked.shift() : this.#legs.get(response.watchId);
    if (leg !== undefined && this.#legs.get(leg.id) !== leg) return; // taken off meanwhile
    if (response.created && !response.canceled) this.#begun(leg, response);
    else if (response.canceled) this.#canceled(leg, response);
    else if (response.events.length === 0 && !response.fragment) this.#notice(response);
    else if (leg !== undefined) this.#told(leg, response);
  }

  #begun(leg: Leg | undefined, { header }: WatchResponse): void {
    if (leg === undefined) return;
    const revision = header?.revision ?? 0;
    if (revision < leg.following.sure) this.#events.behind();
    if (!leg.exact && revision > leg.following.sure) {
      this.again(leg.following);
      return;
    }
    leg.following.denied = false;
    leg.began = revision;
    leg.before = this.#requests;
    leg.quietSince = performance.now();
  }

  #told(leg: Leg, response: WatchResponse): void {
    const { following } = leg;
    leg.quietSince = performance.now();
    following.receive(response);
    if (!following.full || following.over) return;
    if (this.#held.size === 0) {
      this.#call.pause();
      this.#release = setTimeout(() => this.#takeOff(), HOLD);
    }
    this.#held.add(following);
  }

  /** Who has not caught up is followed again when it has; the others wait no longer. */
  #takeOff(): void {
    for (const following of [...this.#held]) this.remove(following);
  }

  #canceled(leg: Leg | undefined, { compactRevision, cancelReason }: WatchResponse): void {
    if (leg === undefined) return;
    const { following } = leg;
    this.remove(following); // etcd tells of no progress while it holds one that it has canceled for a compaction
    if (compactRevision > 0) following.fail(StoreError.compacted(following.sure, compactRevision));
    else if (/permission|auth|user/.test(cancelReason)) this.#events.denied(following, cancelReason);
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
    for (const { following, began, before } of this.#legs.values())
      if (began !== undefined && (revision > began || this.#notices > before)) following.progress(revision, true);
  }
}
