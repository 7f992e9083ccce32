import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import {
  Backoff,
  header,
  isTransportError,
  onAbort,
  sleep,
  type Upstream,
  untilAborted,
  type WholeResponse,
} from "@virtual-workspaces/transport";

/** How often a review is sent at most, as in Kubernetes. */
const ATTEMPTS = 5;
/** Before the second attempt 100 ms; twice as long before each one after. */
const RETRY = { first: 100, most: Number.POSITIVE_INFINITY, jitter: [0.5, 1.5] } as const;
/** How many may wait, for each that may be under way: what comes beyond fails at once. */
const WAITING = 20;
/** The longest answer, bytes: a user in some ten thousand groups. */
const LONGEST = 1024 * 1024;
const RETRIED: ReadonlySet<string> = new Set(["connect", "timeout", "reset"]);

const HINTS: Readonly<Record<number, string>> = {
  401: ": it does not know the credential that it is asked with",
  403: ": who asks it needs the ClusterRole system:auth-delegator there, or one like it",
  404: ": there is no such API",
};

/** What is asked, and whom. */
export interface ReviewQuestion {
  readonly upstream: Upstream;
  /** `/clusters/<cluster>`, or "". */
  readonly prefix: string;
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly spec: object;
  /** Sent besides, name and value in turn. @default none */
  readonly headers?: readonly string[];
}

/** A review that came to nothing. The message names the server and the path, and holds nothing of the question or answer. */
export class ReviewFailure extends Error {
  override readonly name: string = "ReviewFailure";
  /** Whether asking again may help: the server was not there, or not able to. */
  readonly transient: boolean;

  constructor(message: string, options: ErrorOptions & { readonly transient: boolean }) {
    super(message, options);
    this.transient = options.transient;
  }
}

export interface ReviewerOptions {
  /** For one review, waiting and all attempts included, ms. */
  readonly timeout: number;
  /** How many are with the other server at once. */
  readonly inFlight: number;
}

type Attempt =
  | { readonly status: JsonObject; readonly failure?: never; readonly after?: never }
  | { readonly status?: never; readonly failure: ReviewFailure; readonly after?: number };

/**
 * Asks other servers to decide: sends reviews (`create` of a `…Review`, of which nothing is kept there), so many at a time,
 * again where that may help, and never for longer than allowed. Reviews change nothing, so each may be sent again.
 */
export class Reviewer {
  readonly #timeout: number;
  readonly #semaphore: Semaphore;
  readonly #mostWaiting: number;
  #retried = 0;

  constructor({ timeout, inFlight }: ReviewerOptions) {
    this.#timeout = timeout;
    this.#semaphore = new Semaphore(inFlight);
    this.#mostWaiting = inFlight * WAITING;
  }

  get stats(): { readonly inFlight: number; readonly waiting: number; readonly retried: number } {
    return { inFlight: this.#semaphore.inside, waiting: this.#semaphore.waiting, retried: this.#retried };
  }

  /** The status of the answer. @throws ReviewFailure, and the signal's reason */
  async ask(question: ReviewQuestion, signal: AbortSignal): Promise<JsonObject> {
    const what = `POST ${question.upstream.url}${pathOf(question)}`;
    if (this.#semaphore.waiting >= this.#mostWaiting)
      throw new ReviewFailure(`${what}: too many reviews wait already`, { transient: true });
    const over = new AbortController();
    const late = `${what}: no answer within ${this.#timeout} ms`;
    const timer = setTimeout(() => over.abort(new ReviewFailure(late, { transient: true })), this.#timeout);
    using _left = onAbort(signal, () => over.abort(signal.reason));
    try {
      using _permit = await this.#semaphore.enter(over.signal);
      // A credential that takes for ever to come does not know of the signal.
      return await untilAborted(this.#attempts(question, over.signal), over.signal);
    } catch (error) {
      throw over.signal.aborted ? over.signal.reason : error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #attempts(question: ReviewQuestion, signal: AbortSignal): Promise<JsonObject> {
    const body = bodyOf(question);
    const backoff = new Backoff(RETRY);
    for (let attempt = 1; ; attempt++) {
      const { status, failure, after = 0 } = await this.#attempt(question, body, signal);
      if (status !== undefined) return status;
      if (!failure.transient || attempt === ATTEMPTS) throw failure;
      const pause = Math.max(after, backoff.next());
      if (pause > this.#timeout) throw failure;
      await sleep(pause, { signal });
      signal.throwIfAborted();
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

/** So many at a time; the others wait, in the order in which they came. */
class Semaphore {
  readonly #places: number;
  readonly #queue = new Set<() => void>();
  #inside = 0;

  constructor(places: number) {
    this.#places = places;
  }

  get inside(): number {
    return this.#inside;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Resolves inside, with the way out. @throws the signal's reason */
  async enter(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#inside >= this.#places) await this.#turn(signal);
    else this.#inside += 1;
    return { [Symbol.dispose]: () => this.#leave() };
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#queue.delete(turn);
        reject(signal.reason);
      };
      this.#queue.add(turn);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** A place that becomes free is the next one's: nobody who comes now gets in between. */
  #leave(): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#inside -= 1;
      return;
    }
    this.#queue.delete(next);
    next();
  }
}

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

function parsed(body: Buffer): JsonObject | undefined {
  try {
    const value = parseOwnJson(body.toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
