import { setTimeout as delay } from "node:timers/promises";
import { isJsonObject, type JsonObject, parseOwnJson } from "@virtual-workspaces/apimachinery";
import { header, isTransportError, type Upstream, type WholeResponse } from "@virtual-workspaces/transport";
import { Gate } from "./gate.ts";
import { ReviewFailure } from "./review-failure.ts";

/** What is asked, and whom. */
export interface ReviewQuestion {
  readonly upstream: Upstream;
  /** `/clusters/<cluster>`, or "". */
  readonly prefix: string;
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly spec: object;
  /** Sent besides. @default none */
  readonly headers?: readonly string[];
}

export interface ReviewerOptions {
  /** For one review, waiting and all attempts included, ms. */
  readonly timeout: number;
  /** How many are with the other server at once. */
  readonly inFlight: number;
}

/** How often a review is sent at most, as in Kubernetes. */
const ATTEMPTS = 5;
/** Before the second attempt, ms; twice as long before each one after. */
const BACKOFF = 100;
/** How many may wait, for each that may be under way: what comes beyond fails at once. */
const WAITING = 20;
/** The longest answer, bytes: a user in some ten thousand groups. */
const LONGEST = 1024 * 1024;

/**
 * Asks other servers to decide: sends reviews (`create` of a `…Review`, of which nothing is kept there), so many at a time,
 * again where that may help, and never for longer than allowed. Reviews change nothing, so each may be sent again.
 */
export class Reviewer {
  readonly #timeout: number;
  readonly #gate: Gate;
  readonly #mostWaiting: number;
  #retried = 0;

  constructor({ timeout, inFlight }: ReviewerOptions) {
    this.#timeout = timeout;
    this.#gate = new Gate(inFlight);
    this.#mostWaiting = inFlight * WAITING;
  }

  get stats(): { readonly inFlight: number; readonly waiting: number; readonly retried: number } {
    return { inFlight: this.#gate.inside, waiting: this.#gate.waiting, retried: this.#retried };
  }

  /** The status of the answer. @throws ReviewFailure, and the signal's reason */
  async ask(question: ReviewQuestion, signal: AbortSignal): Promise<JsonObject> {
    const what = `POST ${question.upstream.url}${pathOf(question)}`;
    if (this.#gate.waiting >= this.#mostWaiting)
      throw new ReviewFailure(`${what}: too many reviews wait already`, { transient: true });
    const over = new AbortController();
    const late = `${what}: no answer within ${this.#timeout} ms`;
    const timer = setTimeout(() => over.abort(new ReviewFailure(late, { transient: true })), this.#timeout);
    const leave = (): void => over.abort(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    try {
      if (signal.aborted) leave();
      using _place = await this.#gate.enter(over.signal);
      return await untilAborted(this.#attempts(question, over.signal), over.signal);
    } catch (error) {
      throw over.signal.aborted ? over.signal.reason : error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
    }
  }

  async #attempts(question: ReviewQuestion, signal: AbortSignal): Promise<JsonObject> {
    const body = bodyOf(question);
    for (let attempt = 1; ; attempt++) {
      const { status, failure, after = 0 } = await this.#attempt(question, body, signal);
      if (status !== undefined) return status;
      if (!failure.transient || attempt === ATTEMPTS) throw failure;
      const pause = Math.max(after, BACKOFF * 2 ** (attempt - 1) * (0.5 + Math.random()));
      if (pause > this.#timeout) throw failure;
      await delay(pause, undefined, { signal });
      this.#retried += 1;
    }
  }

  async #attempt(question: ReviewQuestion, body: string, signal: AbortSignal): Promise<Attempt> {
    const { upstream } = question;
    const path = pathOf(question);
    const what = `POST ${upstream.url}${path}`;
    // Half of the time: of a connection that is dead without having said so, there is time for another one.
    const half = Math.ceil(this.#timeout / 2);
    try {
      const { headers: more = [] } = question;
      const headers = ["Accept", "application/json", "Content-Type", "application/json", ...more];
      const deadlines = { head: half, idle: half };
      const answer = await upstream.send({ method: "POST", path, headers, body, limit: LONGEST, deadlines, signal });
      return readAnswer(answer, question, what);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ReviewFailure) return { failure: error };
      const transient = isTransportError(error) && RETRIED.has(error.code);
      const text = isTransportError(error) ? error.message : `${what}: ${String(error)}`;
      return { failure: new ReviewFailure(text, { cause: error, transient }) };
    }
  }
}

type Attempt =
  | { readonly status: JsonObject; readonly failure?: never; readonly after?: never }
  | { readonly status?: never; readonly failure: ReviewFailure; readonly after?: number };

const RETRIED: ReadonlySet<string> = new Set(["connect", "timeout", "reset"]);

function pathOf({ prefix, group, plural }: ReviewQuestion): string {
  return `${prefix}/apis/${group}/v1/${plural}`;
}

function bodyOf({ group, kind, spec }: ReviewQuestion): string {
  return JSON.stringify({ apiVersion: `${group}/v1`, kind, metadata: {}, spec });
}

/** What is no review of the kind that was asked for, with a status, decides nothing. */
function readAnswer({ status: code, headers, body }: WholeResponse, question: ReviewQuestion, what: string): Attempt {
  if (code !== 200 && code !== 201) {
    const transient = code === 429 || code >= 500;
    const seconds = Number(header(headers, "retry-after"));
    const failure = new ReviewFailure(`${what}: it answered ${code}${HINTS[code] ?? ""}`, { transient });
    return { failure, after: Number.isFinite(seconds) ? seconds * 1_000 : 0 };
  }
  const { group, kind } = question;
  const answer = parsed(body);
  if (answer === undefined || answer["kind"] !== kind || answer["apiVersion"] !== `${group}/v1`)
    throw new ReviewFailure(`${what}: what it answered is no ${kind} of ${group}/v1`, { transient: false });
  const { status } = answer;
  if (!isJsonObject(status))
    throw new ReviewFailure(`${what}: the ${kind} that it answered has no status`, { transient: false });
  return { status };
}

const HINTS: Readonly<Record<number, string>> = {
  401: ": it does not know the credential that it is asked with",
  403: ": who asks it needs the ClusterRole system:auth-delegator there, or one like it",
  404: ": there is no such API",
};

function parsed(body: Buffer): JsonObject | undefined {
  try {
    const value = parseOwnJson(body.toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A credential that takes for ever to come does not know of the signal. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
