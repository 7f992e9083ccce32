import { performance } from "node:perf_hooks";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { timerDelay } from "@virtual-workspaces/transport";
import { LongRunning, type RefusalReason, RejectionCounts, type ResolvedLimits } from "./fairness-limits.ts";
import {
  type Bounds,
  type Clock,
  partOf,
  type QueuedRequest,
  Seat,
  type Seating,
  type Share,
  type UserShare,
  WorkspaceShare,
} from "./seats.ts";

/** Methods that change nothing. */
const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/** In Kubernetes' words; made once: rejecting a flood of requests should be cheap. */
const TOO_MANY = ApiError.tooManyRequests("too many requests, please try again later", 1);
const LEFT = ApiError.serviceUnavailable("the client left");
/** Least charge for a seat, ms: so that seats alternate even below the resolution of the clock. */
const LEAST = 0.01;

/**
 * Limits concurrent requests, and schedules queued ones fairly. A request that finishes synchronously, as most do, is never
 * counted: it cannot run beside another. A request is charged afterwards for what it used: event-loop time until its first
 * wait, and its share of all seats while it held one.
 */
export class Fairness implements Seating {
  readonly longRunning: LongRunning;
  readonly refusals: RejectionCounts = new RejectionCounts();
  readonly #limits: ResolvedLimits;
  readonly #queue: FairQueue;
  readonly #turn: Turn;
  readonly #mostTime: number;
  /** Number of seats below which no limit can be reached. */
  readonly #ample: number;
  readonly #sliceDone = (): void => this.#goOn();
  #held = 0;
  #heldMutating = 0;
  #arrived = 0;
  #scheduled = false;
  /** Seats in the order in which they were taken, and the timer of the oldest: one for all costs less than one for each. */
  readonly #seated = new Set<Seat>();
  #oldest: NodeJS.Timeout | undefined;
  /** Seat whose event-loop time is being measured, and the start. */
  #running: Seat | undefined;
  #runningSince = 0;

  /** @param mostTime time limit of a seat, ms */
  constructor(limits: ResolvedLimits, mostTime: number) {
    this.#limits = limits;
    this.#mostTime = timerDelay(mostTime);
    // Without a queue for the next turn, no request is rejected for being late in this one.
    const nobodyWaits = limits.queue === 0 || limits.queuePerUser === 0;
    this.#turn = new Turn(nobodyWaits ? Number.POSITIVE_INFINITY : limits.turn);
    this.longRunning = new LongRunning(limits);
    const bounds: Bounds = { all: limits.inFlight, mutating: limits.mutating };
    this.#queue = new FairQueue(bounds, limits);
    const parts = [bounds, partOf(bounds, limits.perVirtualWorkspace), partOf(bounds, limits.perUser)];
    this.#ample = Math.min(...parts.flatMap(({ all, mutating }) => [all, mutating]));
  }

  /**
   * Running, queued and long-running requests (`apiserver_current_inflight_requests`, `…_inqueue_…`,
   * `apiserver_longrunning_requests`).
   */
  get stats(): Readonly<Record<"inFlight" | "queued" | "longRunning", number>> {
    return { inFlight: this.#held, queued: this.#queue.length, longRunning: this.longRunning.open };
  }

  /**
   * Admits a request, at once if possible. Rejects with 429 when it can neither run nor queue, 503 when the server stops
   * meanwhile.
   */
  enter(request: QueuedRequest): void | Promise<void> {
    const refusal = request.info.longRunning ? this.longRunning.take(request) : undefined;
    if (refusal !== undefined) return this.refusals.later(request, refusal, "concurrency-limit");
    const { length } = this.#queue;
    if (length === 0 && this.#held < this.#ample && this.#turn.hasTime(performance.now())) {
      request.admitted = true;
      return undefined;
    }
    return this.#enterBusy(request);
  }

  /** Returns the seat of a request, also of one that was admitted without a seat and needs one now. */
  hold(request: QueuedRequest): Seat | undefined {
    if (request.admitted && request.seat === undefined) this.#sit(this.#seat(request));
    return request.seat;
  }

  /** Rejects all queued requests. */
  drain(): void {
    for (const seat of [...this.#queue.waiters()]) this.#dismiss(seat)?.reject(shuttingDown(seat.request));
    this.refusals.drain();
  }

  widen(seat: Seat, width: number): void {
    this.#count(seat, width - seat.width);
    seat.width = width;
  }

  give(seat: Seat, width: number): void {
    this.#count(seat, -width);
    seat.width = 0;
    this.#seated.delete(seat);
    const { share } = seat;
    if (this.#queue.length > 0) {
      this.#queue.charge(seat, (width * (performance.now() - seat.since)) / this.#limits.inFlight);
      this.#schedule();
    }
    share.workspace.forget(share);
  }

  leave(seat: Seat): void {
    this.#dismiss(seat)?.reject(LEFT);
  }

  overstay(seat: Seat): void {
    const { request } = seat;
    // Cut, not rejected: a handler that owns the response might throw, unhandled, when it responds later.
    const counted = request.res.destroyed || request.info.longRunning;
    if (!counted && this.longRunning.take(request) !== undefined) request.res.destroy();
    seat.release();
  }

  #enterBusy(request: QueuedRequest): void | Promise<void> {
    const seat = this.#seat(request);
    const { share, mutating } = seat;
    const atOnce = this.#queue.length === 0 && this.#turn.hasTime(performance.now());
    if (atOnce && this.#hasRoom(mutating) && [share, share.workspace].every((one: Share) => one.hasRoom(mutating))) {
      this.#sit(seat);
      return undefined;
    }
    return this.#wait(seat);
  }

  #seat(request: QueuedRequest): Seat {
    const { mounted, user, req } = request;
    const share = this.#queue.share(mounted.name, user.name);
    const mutating = !READS.has(req.method ?? "");
    request.seat = new Seat(this, { request, share, mutating, number: this.#arrived++ });
    return request.seat;
  }

  #wait(seat: Seat): Promise<void> {
    const { queue, queuePerUser, queueFor } = this.#limits;
    const { share, request } = seat;
    if (share.waiting >= queuePerUser || queue === 0) return this.#refuse(seat);
    if (this.#queue.length >= queue) {
      const displaced = this.#queue.displacedBy(share);
      if (displaced === undefined) return this.#refuse(seat);
      this.#dismiss(displaced)?.resolve(this.#refuse(displaced));
    }
    this.#queue.add(seat);
    seat.turn = Promise.withResolvers();
    const giveUp = (): void => {
      request.core.meters.rejected.add("time-out" satisfies RefusalReason);
      this.#dismiss(seat)?.reject(TOO_MANY);
    };
    seat.timer = setTimeout(giveUp, timerDelay(queueFor)).unref();
    request.res.once("close", () => {
      if (seat.turn !== undefined) this.leave(seat);
    });
    this.#schedule();
    return seat.turn.promise;
  }

  #refuse({ request, share }: Seat): Promise<never> {
    share.workspace.forget(share);
    return this.refusals.later(request, TOO_MANY, "queue-full");
  }

  /** Removes a request from the queue. @returns the promise it waits for */
  #dismiss(seat: Seat): Seat["turn"] {
    this.#queue.delete(seat);
    clearTimeout(seat.timer);
    const { turn, share } = seat;
    seat.turn = undefined;
    share.workspace.forget(share);
    return turn;
  }

  #sit(seat: Seat): void {
    seat.width = 1;
    seat.since = performance.now();
    this.#seated.add(seat);
    this.#oldest ??= setTimeout(this.#endOld, this.#mostTime).unref();
    this.#count(seat, 1);
  }

  /** Ends the seats at their time limit. */
  readonly #endOld = (): void => {
    this.#oldest = undefined;
    for (const seat of this.#seated) {
      const left = seat.since + this.#mostTime - performance.now();
      if (left >= 1) {
        this.#oldest = setTimeout(this.#endOld, Math.ceil(left)).unref();
        return;
      }
      this.overstay(seat);
    }
  };

  #count({ share, mutating }: Seat, width: number): void {
    this.#held += width;
    if (mutating) this.#heldMutating += width;
    share.hold(width, mutating);
    share.workspace.hold(width, mutating);
  }

  #hasRoom(mutating: boolean): boolean {
    const { inFlight, mutating: most } = this.#limits;
    return this.#held < inFlight && (!mutating || this.#heldMutating < most);
  }

  /** Runs queued requests in the next turn, after requests that arrive until then. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#turn.begin(performance.now());
      this.#goOn();
    });
  }

  /** Admits queued requests one by one, each when the previous one has finished or waits. */
  #goOn(): void {
    const now = performance.now();
    if (this.#running !== undefined) this.#queue.charge(this.#running, Math.max(LEAST, now - this.#runningSince));
    this.#running = undefined;
    this.#scheduled = false;
    if (this.#queue.length === 0) return;
    if (!this.#turn.hasTime(now)) {
      this.#schedule();
      return;
    }
    const seat = this.#hasRoom(false) ? this.#queue.next(this.#hasRoom(true)) : undefined;
    // All wait for a seat: its release continues the queue.
    if (seat === undefined) return;
    this.#scheduled = true;
    this.#running = seat;
    this.#runningSince = now;
    clearTimeout(seat.timer);
    this.#sit(seat);
    seat.turn?.resolve();
    seat.turn = undefined;
    // A tick runs after all microtasks, and so after all work of the request until its first wait.
    queueMicrotask(() => process.nextTick(this.#sliceDone));
  }
}

/** Rejects a request that arrives, or leaves the queue, after the server began to drain. */
export function shuttingDown({ res }: Pick<QueuedRequest, "res">): ApiError {
  res.setHeader("Connection", "close");
  return ApiError.serviceUnavailable("the server is shutting down; try again", 1);
}

/**
 * Time budget of new requests in one turn of the event loop, which all clients of a Node server share. It reads the clock;
 * only after a slice it checks for a new turn.
 */
export class Turn {
  readonly #length: number;
  #began = Number.NEGATIVE_INFINITY;
  #loop = -1;

  /** @param length ms */
  constructor(length: number) {
    this.#length = length;
  }

  /** Whether time is left in this turn. */
  hasTime(now: number): boolean {
    if (now - this.#began < this.#length) return true;
    if (performance.nodeTiming.uvMetricsInfo.loopCount === this.#loop) return false;
    this.begin(now);
    return true;
  }

  /** Begins a slice, however much of the turn is used. */
  begin(now: number): void {
    this.#began = now;
    this.#loop = performance.nodeTiming.uvMetricsInfo.loopCount;
  }
}

/** Queued requests, in fair order: the virtual workspace, then its user, with the least used time is next. */
class FairQueue {
  readonly #clock: Clock = { now: 0 };
  readonly #waiters = new Set<WorkspaceShare>();
  readonly #workspaces = new Map<string, WorkspaceShare>();
  readonly #workspaceBounds: Bounds;
  readonly #userBounds: Bounds;
  #length = 0;

  constructor(bounds: Bounds, parts: { readonly perVirtualWorkspace: number; readonly perUser: number }) {
    this.#workspaceBounds = partOf(bounds, parts.perVirtualWorkspace);
    this.#userBounds = partOf(bounds, parts.perUser);
  }

  get length(): number {
    return this.#length;
  }

  share(workspace: string, user: string): UserShare {
    let share = this.#workspaces.get(workspace);
    if (share === undefined) {
      share = new WorkspaceShare(this.#workspaceBounds, this.#userBounds);
      this.#workspaces.set(workspace, share);
    }
    return share.user(user);
  }

  add(seat: Seat): void {
    const { share } = seat;
    const { workspace } = share;
    if (workspace.waiting === 0) workspace.join(this.#clock);
    if (share.waiting === 0) share.join(workspace.clock);
    this.#waiters.add(workspace);
    workspace.waiters.add(share);
    workspace.waiting += 1;
    share.waiting += 1;
    this.#length += 1;
    share.add(seat);
  }

  delete(seat: Seat): void {
    const { share } = seat;
    const { workspace } = share;
    if (!share.delete(seat)) return;
    this.#length -= 1;
    workspace.waiting -= 1;
    share.waiting -= 1;
    if (share.waiting === 0) workspace.waiters.delete(share);
    if (workspace.waiting === 0) this.#waiters.delete(workspace);
  }

  /** Removes and returns the next request, if there is room for one. */
  next(mayWrite: boolean): Seat | undefined {
    let next: Seat | undefined;
    for (const workspace of this.#waiters) {
      if (next !== undefined && workspace.used >= next.share.workspace.used) continue;
      next = nextOf(workspace, mayWrite) ?? next;
    }
    if (next === undefined) return undefined;
    const { share } = next;
    this.delete(next);
    this.#clock.now = Math.max(this.#clock.now, share.workspace.used);
    share.workspace.clock.now = Math.max(share.workspace.clock.now, share.used);
    return next;
  }

  /** Adds to the used time of a user and their virtual workspace. */
  charge({ share }: Seat, time: number): void {
    share.charge(time, share.workspace.clock);
    share.workspace.charge(time, this.#clock);
  }

  /**
   * Returns the request that makes room for one of `share`: the youngest of the share with most queued requests, or none if
   * that is `share` itself.
   */
  displacedBy(share: UserShare): Seat | undefined {
    const workspace = longest(this.#waiters, share.workspace);
    const user = longest(workspace.waiters, workspace === share.workspace ? share : undefined);
    return user === share ? undefined : user?.youngest();
  }

  *waiters(): Generator<Seat> {
    for (const { waiters } of this.#waiters) for (const user of waiters) yield* user.waiters();
  }
}

function nextOf(workspace: WorkspaceShare, mayWrite: boolean): Seat | undefined {
  if (!workspace.hasRoom(false)) return undefined;
  const writes = mayWrite && workspace.hasRoom(true);
  let next: Seat | undefined;
  for (const user of workspace.waiters) {
    if (next === undefined || user.used < next.share.used) next = user.next(writes) ?? next;
  }
  return next;
}

/** Returns the share with most queued requests; `own` when it would then tie. */
function longest<S extends { readonly waiting: number }, O extends S | undefined>(shares: Iterable<S>, own: O): S | O {
  let found: S | O = own;
  let most = own === undefined ? 0 : own.waiting + 1;
  for (const share of shares) {
    if (share.waiting > most) {
      found = share;
      most = share.waiting;
    }
  }
  return found;
}
