import { ApiError } from "@virtual-workspaces/apimachinery";
import { whole } from "../util/numbers.ts";
import type { QueuedRequest } from "./seats.ts";

/**
 * Concurrency limits and queues of a server (Kubernetes' API Priority and Fairness). Whole numbers; `Infinity` lifts a limit,
 * 0 is valid where stated. Requests beyond the limits queue fairly: first by virtual workspace, then by user within one, so
 * that neither many connections nor expensive requests of one starve the others. A request that cannot queue gets 429 with
 * `Retry-After`. A user is a user name, after impersonation.
 */
export interface RequestLimits {
  /**
   * Concurrent requests (`--max-requests-inflight`). A list above 128 KiB counts once per 128 KiB, at most ten times.
   * Long-running requests count until their initial events are sent. Other requests stop counting after `requestTimeout`:
   * they then count as long-running if the client is still connected, and are cut if there are too many.
   * @default 400
   */
  readonly inFlight?: number;
  /**
   * Concurrent requests other than GET, HEAD and OPTIONS (`--max-mutating-requests-inflight`).
   * @default half of `inFlight`
   */
  readonly mutating?: number;
  /** Share of both limits for one user in one virtual workspace: above 0, at most 1, rounded up. @default 0.5 */
  readonly perUser?: number;
  /** Share of both limits for one virtual workspace. @default 0.75, or 1 when there is but one */
  readonly perVirtualWorkspace?: number;
  /**
   * Queued requests in all. When the queue is full, the user with the most queued requests loses the youngest. 0: no
   * queueing, and `turn` has no effect.
   * @default 2000
   */
  readonly queue?: number;
  /** Queued requests of one user in one virtual workspace. 0: none. @default 500 */
  readonly queuePerUser?: number;
  /** Longest time in the queue, ms; the deadline goes on meanwhile. @default 15000 */
  readonly queueFor?: number;
  /**
   * Time that new requests may take of one turn of the event loop, ms: the others continue in the next turns, in queue order.
   * @default 5
   */
  readonly turn?: number;
  /** Open watches, upgrades and other long-running requests. 0: none. @default 20000, of 25 KiB each, 70 KiB over TLS */
  readonly longRunning?: number;
  /** Long-running requests of one user. @default 5000 */
  readonly longRunningPerUser?: number;
}

/** The same with all defaults filled in. */
export type ResolvedLimits = Readonly<Record<keyof RequestLimits, number>>;

/** @throws Error on an invalid limit */
export function resolveLimits(limits: RequestLimits, virtualWorkspaces: number): ResolvedLimits {
  const { inFlight = 400, queueFor = 15_000 } = limits;
  const resolved: ResolvedLimits = {
    inFlight: whole("limits.inFlight", inFlight, 1),
    mutating: whole("limits.mutating", limits.mutating ?? Math.ceil(inFlight / 2), 1),
    perUser: part("perUser", limits.perUser ?? 0.5),
    perVirtualWorkspace: part("perVirtualWorkspace", limits.perVirtualWorkspace ?? (virtualWorkspaces > 1 ? 0.75 : 1)),
    queue: whole("limits.queue", limits.queue ?? 2000, 0),
    queuePerUser: whole("limits.queuePerUser", limits.queuePerUser ?? 500, 0),
    queueFor: whole("limits.queueFor", queueFor, 1),
    turn: whole("limits.turn", limits.turn ?? 5, 1),
    longRunning: whole("limits.longRunning", limits.longRunning ?? 20_000, 0),
    longRunningPerUser: whole("limits.longRunningPerUser", limits.longRunningPerUser ?? 5000, 0),
  };
  const unknown = Object.keys(limits).find((name) => !(name in resolved));
  if (unknown !== undefined)
    throw new Error(`unknown limit limits.${unknown}: use one of ${Object.keys(resolved).join(", ")}`);
  return resolved;
}

function part(name: string, value: number): number {
  if (value > 0 && value <= 1) return value;
  throw new Error(`invalid limits.${name} ${value}: use a share above 0 and at most 1`);
}

/** Made once: rejecting a flood of requests should be cheap. */
const TOO_MANY = ApiError.tooManyRequests(
  "too many watches and other long-running requests are open; close some, or try again later",
  1,
);

/** Open long-running requests: mostly idle, but each holds memory. */
export class LongRunning {
  readonly #limits: ResolvedLimits;
  readonly #users = new Map<string, number>();
  #open = 0;

  constructor(limits: ResolvedLimits) {
    this.#limits = limits;
  }

  get open(): number {
    return this.#open;
  }

  /** Counts a request until it ends. @returns the error 429 when there are too many */
  take(request: QueuedRequest): ApiError | undefined {
    const { longRunning, longRunningPerUser } = this.#limits;
    const { name } = request.user;
    if (this.#open >= longRunning || (this.#users.get(name) ?? 0) >= longRunningPerUser) return TOO_MANY;
    const { stream } = request;
    if (stream.destroyed) return undefined;
    this.#open += 1;
    this.#users.set(name, (this.#users.get(name) ?? 0) + 1);
    stream.once("close", () => this.#closed(name));
    return undefined;
  }

  #closed(name: string): void {
    this.#open -= 1;
    const left = (this.#users.get(name) ?? 1) - 1;
    if (left === 0) this.#users.delete(name);
    else this.#users.set(name, left);
  }
}

/** Delay of a rejection, ms: about the `Retry-After` of the client, at random, so that a burst does not repeat as one. */
const HELD = { least: 500, more: 1000 } as const;
/** Number of delayed rejections; each holds its request. Others are sent at once. */
const MOST = 5000;

/** Label in metrics, in Kubernetes' words where it has one. */
export type RefusalReason = "queue-full" | "time-out" | "concurrency-limit" | "failed-authentications";

/**
 * Delays responses with 429 by about a second. Clients that respect `Retry-After` lose almost nothing. A client that retries
 * at once would cost as much as a served one, and slow down the event loop for all others.
 */
export class RejectionCounts {
  readonly #held = new Set<() => void>();

  /**
   * Counts a rejection under `reason`, and rejects with `error` after the delay, or when the client has left or the server
   * stops.
   */
  later(request: Pick<QueuedRequest, "core" | "res">, error: ApiError, reason: RefusalReason): Promise<never> {
    request.core.meters.rejected.add(reason);
    if (this.#held.size >= MOST) return Promise.reject(error);
    return new Promise((_resolve, reject) => {
      const refuse = (): void => {
        clearTimeout(timer);
        this.#held.delete(refuse);
        reject(error);
      };
      const timer = setTimeout(refuse, HELD.least + HELD.more * Math.random()).unref();
      this.#held.add(refuse);
      request.res.once("close", refuse);
    });
  }

  /** Sends all delayed rejections. */
  drain(): void {
    for (const refuse of this.#held) refuse();
  }
}
