import type { Meters } from "../observe/metrics/family.ts";
import type { ObservedRequest, ObservedView } from "../observe/observer.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { User } from "../request/user.ts";

/** Concurrency limits: of all requests, and of the mutating ones among them. */
export interface Bounds {
  readonly all: number;
  readonly mutating: number;
}

/** Returns a share of `bounds`, rounded up. */
export function partOf({ all, mutating }: Bounds, part: number): Bounds {
  return { all: Math.ceil(all * part), mutating: Math.ceil(mutating * part) };
}

/** Largest debt of a share to the others, ms: the rest is forgiven, so that a debt does not become a lockout. */
const MOST_DEBT = 1000;

/** Seats, queued requests and used time of one virtual workspace, or of one user within it. */
export abstract class Share {
  readonly #bounds: Bounds;
  held = 0;
  heldMutating = 0;
  waiting = 0;
  /** Time used while others waited, ms on {@link Clock}: the share with the least is next (start-time fair queueing). */
  used = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Whether one more request may run. */
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

  /** Joins the waiting shares: unused time from before is not saved up. */
  join(clock: Clock): void {
    this.used = Math.max(this.used, clock.now);
  }
}

/** Virtual time of shares that wait together: the used time of the last one served. */
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

  /** Returns the oldest request that may run; queued writes do not block reads behind them. */
  next(mayWrite: boolean): Seat | undefined {
    if (!this.hasRoom(false)) return undefined;
    const read = first(this.#reads);
    const write = mayWrite && this.hasRoom(true) ? first(this.#writes) : undefined;
    if (read === undefined || write === undefined) return read ?? write;
    return read.number < write.number ? read : write;
  }

  /** Queued requests. */
  *waiters(): Generator<Seat> {
    yield* this.#reads;
    yield* this.#writes;
  }

  /** Returns the most recent request. */
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

/** Number of remembered users before idle ones are removed. */
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

  /** Removes a user without seats, queued requests and debt. */
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

/** A request whose caller is authenticated, as the queue sees it. */
export interface QueuedRequest extends ObservedRequest {
  readonly core: ObservedRequest["core"] & { readonly meters: Meters };
  readonly mounted: ObservedView;
  readonly info: RequestInfo;
  readonly user: User;
  /** Set when it need not wait: it gets a seat if it turns out to need one. */
  admitted: boolean;
  seat: Seat | undefined;
}

/** Owner of the seats. */
export interface Seating {
  /** Releases `width` of the seat's places. */
  give(seat: Seat, width: number): void;
  /** Gives the seat more places, even beyond the limit: a running request goes on. */
  widen(seat: Seat, width: number): void;
  /** Removes a queued request. */
  leave(seat: Seat): void;
  /** Ends a seat at its time limit. */
  overstay(seat: Seat): void;
}

/** A promise with its functions. Not `PromiseWithResolvers`, since users' programs see this type and their `lib` may lack it. */
interface Wait {
  readonly promise: Promise<void>;
  readonly resolve: (value?: PromiseLike<void>) => void;
  readonly reject: (reason: unknown) => void;
}

/** A request's place among running or queued requests. Requests that finish synchronously have none. */
export class Seat {
  readonly request: QueuedRequest;
  readonly share: UserShare;
  readonly mutating: boolean;
  /** Order of arrival. */
  readonly number: number;
  readonly #seating: Seating;
  /** Number of places; 0 while queued and after the end. */
  width = 0;
  /** Time when it was taken. */
  since = 0;
  /** Resolves the wait; `undefined` while it does not wait. */
  turn: Wait | undefined;
  /** Timer of the wait. */
  timer: NodeJS.Timeout | undefined;
  #kept = false;
  /** Whether it ends with the response. */
  #lasts = false;

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

  /** Counts as more than one request from now on. */
  widen(width: number): void {
    if (this.width > 0 && width > this.width) this.#seating.widen(this, width);
  }

  /** Releases the seat, or leaves the queue. */
  release(): void {
    clearTimeout(this.timer);
    if (this.turn !== undefined) this.#seating.leave(this);
    else if (this.width > 0) this.#seating.give(this, this.width);
  }

  /** Releases the seat if it has lasted until the response has closed. */
  closed(): void {
    if (this.#lasts) this.release();
  }

  /** Keeps the seat after the pipeline, until `work` settles; never beyond the time limit. */
  keep(work: Promise<unknown>): void {
    this.#kept = true;
    const release = (): void => this.release();
    void work.then(release, release);
  }

  /** Ends the pipeline's use of the seat: `keep` may hold it, or a response is still being sent. */
  through(): void {
    const { answered, info, res } = this.request;
    if (this.#kept && !res.destroyed) return;
    if (answered && !info.longRunning && !res.writableEnded && !res.destroyed) this.#lasts = true;
    else this.release();
  }
}
