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

/** Maximum number of attempts, as in Kubernetes. */
const ATTEMPTS = 5;
/** Backoff: 100 ms before the second attempt, doubled before each further one. */
const RETRY = { first: 100, most: Number.POSITIVE_INFINITY, jitter: [0.5, 1.5] } as const;
/** Number of waiting reviews per concurrent one. Further ones fail at once. */
const WAITING = 20;
/** Maximum response size, in bytes: a user in about ten thousand groups. */
const LONGEST = 1024 * 1024;
const RETRIED: ReadonlySet<string> = new Set(["connect", "timeout", "reset"]);

const HINTS: Readonly<Record<number, string>> = {
  401: ": it rejects the credentials of this request",
  403: ": the user of this request needs the ClusterRole system:auth-delegator there, or a similar one",
  404: ": it does not serve this API",
};

/** Review, and where to send it. */
export interface ReviewQuestion {
  readonly upstream: Upstream;
  /** Path prefix: `/clusters/<cluster>`, or "". */
  readonly prefix: string;
  readonly group: string;
  /** @default v1 */
  readonly version?: string;
  /** Path below the URL of the upstream. @default the path of the API */
  readonly path?: string;
  readonly kind: string;
  readonly plural: string;
  readonly spec: object;
  /** Additional headers: name, value, name, value… @default none */
  readonly headers?: readonly string[];
}

/** Failed review. The message names server and path, but nothing of the request or response. */
export class ReviewFailure extends Error {
  override readonly name: string = "ReviewFailure";
  /** Whether a retry may help, because the server was unavailable. */
  readonly transient: boolean;

  constructor(message: string, options: ErrorOptions & { readonly transient: boolean }) {
    super(message, options);
    this.transient = options.transient;
  }
}

export interface ReviewerOptions {
  /** Timeout of a review, including its wait and all attempts, in ms. */
  readonly timeout: number;
  /** Maximum number of concurrent reviews. */
  readonly inFlight: number;
}

type Attempt =
  | { readonly status: JsonObject; readonly failure?: never; readonly after?: never }
  | { readonly status?: never; readonly failure: ReviewFailure; readonly after?: number };

/**
 * Sends reviews (`create` of a `…Review`, which the server does not store), with limits on concurrency and time, and retries
 * where they may help. Reviews have no side effects, so a retry is always safe.
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

  /** Returns the status of a review. @throws ReviewFailure, and the signal's reason */
  async ask(question: ReviewQuestion, signal: AbortSignal): Promise<JsonObject> {
    const what = `POST ${question.upstream.url}${pathOf(question)}`;
    if (this.#semaphore.waiting >= this.#mostWaiting)
      throw new ReviewFailure(`${what}: too many reviews are waiting: try again, or raise inFlight`, {
        transient: true,
      });
    const over = new AbortController();
    const late = `${what}: no answer within ${this.#timeout} ms`;
    const timer = setTimeout(() => over.abort(new ReviewFailure(late, { transient: true })), this.#timeout);
    using _left = onAbort(signal, () => over.abort(signal.reason));
    try {
      using _permit = await this.#semaphore.enter(over.signal);
      // A credential source that hangs does not see the signal.
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
    // Half of the timeout leaves time for a second connection if the first is dead.
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

/** Semaphore with a first-in, first-out queue. */
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

  /** Acquires the semaphore; the result releases it. @throws the signal's reason */
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

  /** A free place goes to the next in the queue, never to a newcomer. */
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

function pathOf({ prefix, group, version = "v1", plural, path }: ReviewQuestion): string {
  return path ?? `${prefix}/apis/${group}/${version}/${plural}`;
}

function bodyOf({ group, version = "v1", kind, spec }: ReviewQuestion): string {
  return JSON.stringify({ apiVersion: `${group}/${version}`, kind, metadata: {}, spec });
}

/** Accepts only a review of the requested kind with a status. */
function readAnswer({ status: code, headers, body }: WholeResponse, question: ReviewQuestion, what: string): Attempt {
  if (code !== 200 && code !== 201) {
    const transient = code === 429 || code >= 500;
    const seconds = Number(header(headers, "retry-after"));
    const failure = new ReviewFailure(`${what}: the server answered ${code}${HINTS[code] ?? ""}`, { transient });
    return { failure, after: Number.isFinite(seconds) ? seconds * 1_000 : 0 };
  }
  const { group, version = "v1", kind } = question;
  const answer = parsed(body);
  if (answer === undefined || answer["kind"] !== kind || answer["apiVersion"] !== `${group}/${version}`)
    throw new ReviewFailure(`${what}: the response is not a ${kind} of ${group}/${version}`, { transient: false });
  const { status } = answer;
  if (!isJsonObject(status))
    throw new ReviewFailure(`${what}: the ${kind} in the response has no status`, { transient: false });
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
