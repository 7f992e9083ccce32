import type { Meters } from "../observe/metrics/family.ts";
import type { ObservedRequest, ObservedView } from "../observe/observer.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { User } from "../request/user.ts";

/** What may be held at a time: in all, and of that by requests that change something. */
export interface Bounds {
  readonly all: number;
  readonly mutating: number;
}

/** The part of `bounds` that one of several may have, rounded up. */
export function partOf({ all, mutating }: Bounds, part: number): Bounds {
  return { all: Math.ceil(all * part), mutating: Math.ceil(mutating * part) };
}

/** How far somebody may be behind the others for what they have used, ms: a debt is forgotten before it becomes a lockout. */
const MOST_DEBT = 1000;

/** What one virtual workspace, or one user within one, holds, waits for and has used. */
export abstract class Share {
  readonly #bounds: Bounds;
  held = 0;
  heldMutating = 0;
  waiting = 0;
  /** Time used while others waited, ms on {@link Clock}: who has used least is next (start-time fair queueing). */
  used = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Whether one more request may be under way. */
  hasRoom(mutating: boolean): boolean {
    return this.held < this.#bounds.all && (!mutating || this.heldMutating < this.#bounds.mutating);
  }

  hold(width: number, mutating: boolean): void {
    this.held += width;
    if (mutating) this.heldMutating += width;
  }

  charge(time: number, clock: Clock): void {
    this.used = Math.min(this.used + time, clock.now + MOST_DEBT);
  }

  /** Joins those who wait: what was not used before is not saved up. */
  join(clock: Clock): void {
    this.used = Math.max(this.used, clock.now);
  }
}

/** The time that those who wait beside each other have each got: what the last one served had used before. */
export interface Clock {
  now: number;
}

/** A user within a virtual workspace. */
export class UserShare extends Share {
  readonly name: string;
  readonly workspace: WorkspaceShare;
  readonly #reads = new Set<Seat>();
  readonly #writes = new Set<Seat>();

  constructor(name: string, workspace: WorkspaceShare, bounds: Bounds) {
    super(bounds);
    this.name = name;
    this.workspace = workspace;
  }

  add(seat: Seat): void {
    (seat.mutating ? this.#writes : this.#reads).add(seat);
  }

  delete(seat: Seat): boolean {
    return (seat.mutating ? this.#writes : this.#reads).delete(seat);
  }

  /** The oldest request that there is room for; writes do not keep reads behind them waiting. */
  next(mayWrite: boolean): Seat | undefined {
    if (!this.hasRoom(false)) return undefined;
    const read = first(this.#reads);
    const write = mayWrite && this.hasRoom(true) ? first(this.#writes) : undefined;
    if (read === undefined || write === undefined) return read ?? write;
    return read.number < write.number ? read : write;
  }

  /** Those that wait. */
  *waiters(): Generator<Seat> {
    yield* this.#reads;
    yield* this.#writes;
  }

  /** The request that came last. */
  youngest(): Seat | undefined {
    let youngest: Seat | undefined;
    for (const seat of this.waiters()) if (youngest === undefined || seat.number > youngest.number) youngest = seat;
    return youngest;
  }
}

function first(seats: Set<Seat>): Seat | undefined {
  for (const seat of seats) return seat;
  return undefined;
}

/** Users that are remembered before it is looked who of them is gone. */
const KEPT = 1024;

/** A virtual workspace: its users, and those of them who wait. */
export class WorkspaceShare extends Share {
  readonly clock: Clock = { now: 0 };
  readonly waiters: Set<UserShare> = new Set();
  readonly #users = new Map<string, UserShare>();
  readonly #userBounds: Bounds;
  #sweepAt = KEPT;

  constructor(bounds: Bounds, userBounds: Bounds) {
    super(bounds);
    this.#userBounds = userBounds;
  }

  user(name: string): UserShare {
    let user = this.#users.get(name);
    if (user === undefined) {
      if (this.#users.size >= this.#sweepAt) this.#sweep();
      user = new UserShare(name, this, this.#userBounds);
      this.#users.set(name, user);
    }
    return user;
  }

  /** Whoever neither has nor wants anything, and owes nothing, is nobody. */
  forget(user: UserShare): void {
    if (isIdle(user) && user.used <= this.clock.now) this.#users.delete(user.name);
  }

  #sweep(): void {
    for (const [name, user] of this.#users) if (isIdle(user)) this.#users.delete(name);
    this.#sweepAt = Math.max(KEPT, 2 * this.#users.size);
  }
}

function isIdle({ held, waiting }: Share): boolean {
  return held === 0 && waiting === 0;
}

/** A request whose caller is known, as it waits for its turn and takes it. */
export interface QueuedRequest extends ObservedRequest {
  readonly core: ObservedRequest["core"] & { readonly meters: Meters };
  readonly mounted: ObservedView;
  readonly info: RequestInfo;
  readonly user: User;
  /** Set when it need not wait: it has a seat when it turns out to take one. */
  admitted: boolean;
  seat: Seat | undefined;
}

/** Whoever gives out seats. */
export interface Seating {
  /** Gives back `width` of what the seat holds. */
  give(seat: Seat, width: number): void;
  /** Takes more for the seat than it has, whether there is any or not: what is under way goes on. */
  widen(seat: Seat, width: number): void;
  /** Takes a waiting request out of its queue. */
  leave(seat: Seat): void;
  /** It has had its seat for as long as anybody may. */
  overstay(seat: Seat): void;
}

/** A request's place among those under way, or in the queue before. Requests that are done in one go have none. */
export class Seat {
  readonly request: QueuedRequest;
  readonly share: UserShare;
  readonly mutating: boolean;
  /** Their order of arrival. */
  readonly number: number;
  readonly #seating: Seating;
  /** How many places it takes; 0 when it has none: it waits, or is through. */
  width = 0;
  /** When it was taken. */
  since = 0;
  /** What ends its waiting; `undefined` when it does not wait. */
  turn: PromiseWithResolvers<void> | undefined;
  /** Of its time to wait, then of its time to sit. */
  timer: NodeJS.Timeout | undefined;
  #kept = false;

  constructor(
    seating: Seating,
    about: {
      readonly request: QueuedRequest;
      readonly share: UserShare;
      readonly mutating: boolean;
      readonly number: number;
    },
  ) {
    this.#seating = seating;
    this.request = about.request;
    this.share = about.share;
    this.mutating = about.mutating;
    this.number = about.number;
  }

  /** Counts more than once from now on. */
  widen(width: number): void {
    if (this.width > 0 && width > this.width) this.#seating.widen(this, width);
  }

  /** Gives the seat back, or the place in the queue up. */
  release(): void {
    clearTimeout(this.timer);
    if (this.turn !== undefined) this.#seating.leave(this);
    else if (this.width > 0) this.#seating.give(this, this.width);
  }

  /** Keeps the seat beyond the pipeline, until `work` is done. Never longer than any seat. */
  keep(work: Promise<unknown>): void {
    this.#kept = true;
    const release = (): void => this.release();
    void work.then(release, release);
  }

  /** The pipeline is through: what goes on behind it is either somebody's who keeps the seat, or an answer that still goes out. */
  through(): void {
    const { answered, info, res } = this.request;
    if (this.#kept && !res.destroyed) return;
    if (answered && !info.longRunning && !res.writableEnded && !res.destroyed) res.once("close", () => this.release());
    else this.release();
  }
}
