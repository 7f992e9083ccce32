import type { Seat } from "./seat.ts";

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
