import { ApiError } from "@virtual-workspaces/apimachinery";
import { streamOf } from "../observe/observer.ts";
import { whole } from "../util/numbers.ts";
import type { QueuedRequest } from "./seats.ts";

/**
 * How much a server does at a time, and who waits (Kubernetes' API Priority and Fairness). Numbers are whole; `Infinity`
 * lifts a bound, 0 is for the bounds that say so. What is over them waits its turn: first by virtual workspace, then by
 * user within one, so that neither many connections nor expensive requests of one starve the others. What cannot wait is
 * answered 429 with `Retry-After`. A user is a user's name, after impersonation.
 */
export interface RequestLimits {
  /**
   * Requests under way at a time (`--max-requests-inflight`). A list above 128 KiB counts once for every 128 KiB, at most
   * ten times. Long-running requests count until they have begun, with their initial events; whatever else takes longer
   * than `requestTimeout` no longer counts, or is long-running if its client is still there, or cut if there are too many
   * of these. @default 400
   */
  readonly inFlight?: number;
  /** Of these, those that are neither GET, HEAD nor OPTIONS (`--max-mutating-requests-inflight`). @default half of `inFlight` */
  readonly mutating?: number;
  /** Of each of the two, those of one user in one virtual workspace, a part: above 0, at most 1, rounded up. @default 0.5 */
  readonly perUser?: number;
  /** Of each of the two, those of one virtual workspace, a part too. @default 0.75, or 1 when there is but one */
  readonly perVirtualWorkspace?: number;
  /**
   * Requests that wait, in all. When there are as many, whoever has most of them there loses the youngest. 0: nothing
   * waits, and `turn` is without effect. @default 2000
   */
  readonly queue?: number;
  /** Requests of one user in one virtual workspace that wait. 0: none does. @default 500 */
  readonly queuePerUser?: number;
  /** How long a request waits, ms; the deadline goes on meanwhile. @default 15000 */
  readonly queueFor?: number;
  /**
   * What requests that arrive in one turn of the event loop may take of it, ms: the others go on in the next turns, by
   * the same order as those that wait for a place. @default 5
   */
  readonly turn?: number;
  /** Watches, upgrades and other long-running requests that are open at a time. 0: none. @default 20000, of 25 KiB each, 70 over TLS */
  readonly longRunning?: number;
  /** Of these, those of one user. @default 5000 */
  readonly longRunningPerUser?: number;
}

/** The same, all decided. */
export type ResolvedLimits = Readonly<Record<keyof RequestLimits, number>>;

/** @throws Error on a limit that is none */
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
    throw new Error(`limits.${unknown} is no limit: there are ${Object.keys(resolved).join(", ")}`);
  return resolved;
}

function part(name: string, value: number): number {
  if (value > 0 && value <= 1) return value;
  throw new Error(`limits.${name} must be a part: above 0, at most 1; it is ${value}`);
}

/** Made once: a flood of refusals should cost as little as it can. */
const TOO_MANY = ApiError.tooManyRequests(
  "too many watches and other long-running requests are open; close some, or try again later",
  1,
);

/** The long-running requests that are open: they do nothing most of the time, but each keeps memory. */
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

  /** Counts a request until it is over. @returns why not, 429, when there are too many */
  take(request: QueuedRequest): ApiError | undefined {
    const { longRunning, longRunningPerUser } = this.#limits;
    const { name } = request.user;
    if (this.#open >= longRunning || (this.#users.get(name) ?? 0) >= longRunningPerUser) return TOO_MANY;
    const stream = streamOf(request);
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

/** How long a refusal is held back, ms: about what `Retry-After` asks of a client, at random, so that a burst does not come again as one. */
const HELD = { least: 500, more: 1000 } as const;
/** Refusals that are held back at a time; each keeps its request. The others are answered at once. */
const MOST = 5000;

/** In metrics, as far as Kubernetes has a word for it in its own. */
export type RefusalReason = "queue-full" | "time-out" | "concurrency-limit" | "failed-authentications";

/**
 * Answers 429 about a second late. Clients that do what `Retry-After` says lose nothing worth telling; one that comes again at
 * once would cost as much as if it were served, and take the event loop from all others.
 */
export class RejectionCounts {
  readonly #held = new Set<() => void>();

  /** Counts it under `reason`, and rejects with `error`: after a while, or when the client has left or the server stops. */
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

  /** Answers all that are held back. */
  drain(): void {
    for (const refuse of this.#held) refuse();
  }
}
