import { ApiError } from "@virtual-workspaces/apimachinery";
import { delayOf } from "../util/numbers.ts";
import type { ResolvedLimits } from "./limits.ts";
import { LongRunning, type RefusalReason, Refusals } from "./limits.ts";
import { FairQueue } from "./queue.ts";
import type { QueuedRequest } from "./seats.ts";
import { type Bounds, partOf, Seat, type Seating, type Share, Turn } from "./seats.ts";

/** What changes nothing. */
const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/** In Kubernetes' words; made once: a flood of refusals should cost as little as it can. */
const TOO_MANY = ApiError.tooManyRequests("too many requests, please try again later", 1);
const LEFT = ApiError.serviceUnavailable("the client left");
/** What a seat is charged at least, ms: so that who takes turns does so even below what the clock can tell. */
const LEAST = 0.01;

/**
 * Bounds what is under way, and shares out the rest. A request that is done in one go, as most are, is never counted: it
 * cannot be under way beside another. What a request used is known afterwards, and charged then: the event loop's time
 * until it first waits, and its part of all seats for as long as it had one.
 */
export class Fairness implements Seating {
  readonly longRunning: LongRunning;
  readonly refusals: Refusals = new Refusals();
  readonly #limits: ResolvedLimits;
  readonly #queue: FairQueue;
  readonly #turn: Turn;
  readonly #mostTime: number;
  /** As long as fewer seats are taken nobody's bound can have been reached. */
  readonly #ample: number;
  readonly #sliceDone = (): void => this.#goOn();
  #held = 0;
  #heldMutating = 0;
  #arrived = 0;
  #scheduled = false;
  /** Whose time of the event loop is being measured, and since when. */
  #running: Seat | undefined;
  #runningSince = 0;

  /** @param mostTime that a seat is had, ms */
  constructor(limits: ResolvedLimits, mostTime: number) {
    this.#limits = limits;
    this.#mostTime = delayOf(mostTime);
    // Where nothing can wait for the next turn, nothing is to be refused for being late in this one.
    const nobodyWaits = limits.queue === 0 || limits.queuePerUser === 0;
    this.#turn = new Turn(nobodyWaits ? Number.POSITIVE_INFINITY : limits.turn);
    this.longRunning = new LongRunning(limits);
    const bounds: Bounds = { all: limits.inFlight, mutating: limits.mutating };
    this.#queue = new FairQueue(bounds, limits);
    const parts = [bounds, partOf(bounds, limits.perVirtualWorkspace), partOf(bounds, limits.perUser)];
    this.#ample = Math.min(...parts.flatMap(({ all, mutating }) => [all, mutating]));
  }

  /** Requests under way, those that wait, and those that are long-running (`apiserver_current_inflight_requests`, `…_inqueue_…`, `apiserver_longrunning_requests`). */
  get stats(): Readonly<Record<"inFlight" | "queued" | "longRunning", number>> {
    return { inFlight: this.#held, queued: this.#queue.length, longRunning: this.longRunning.open };
  }

  /** Lets a request in, at once if it can be. Rejects with 429 when it can neither be served nor wait, 503 when the server stops meanwhile. */
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

  /** The seat of a request, also of one that was let in at once and only now turns out to take one. */
  hold(request: QueuedRequest): Seat | undefined {
    if (request.admitted && request.seat === undefined) this.#sit(this.#seat(request));
    return request.seat;
  }

  /** Turns away all that wait. */
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
    // Cut, not refused: a handler that has it all to itself might throw, unheard, when it then answers all the same.
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
    seat.timer = setTimeout(giveUp, delayOf(queueFor)).unref();
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

  /** Takes a request out of the queue. @returns what it waits for */
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
    seat.timer = setTimeout(() => this.overstay(seat), this.#mostTime).unref();
    this.#count(seat, 1);
  }

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

  /** Goes on with those who wait in the next turn: behind what has come in until then. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#turn.begin(performance.now());
      this.#goOn();
    });
  }

  /** Lets in whoever is next, one after the other, each when the one before has come to its end or to where it waits. */
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
    // All wait for a place: whoever gives one back goes on.
    if (seat === undefined) return;
    this.#scheduled = true;
    this.#running = seat;
    this.#runningSince = now;
    clearTimeout(seat.timer);
    this.#sit(seat);
    seat.turn?.resolve();
    seat.turn = undefined;
    // A tick comes behind all microtasks, and so behind all that the request does until it waits for something.
    queueMicrotask(() => process.nextTick(this.#sliceDone));
  }
}

/** The refusal of a request that comes, or whose turn would come, after the server began to drain. */
export function shuttingDown({ res }: Pick<QueuedRequest, "res">): ApiError {
  res.setHeader("Connection", "close");
  return ApiError.serviceUnavailable("the server is shutting down; try again", 1);
}
