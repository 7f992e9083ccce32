import type { Cancellation } from "../time/cancellation.ts";
import { TransportError } from "../transport-error.ts";
import type { Awaited, LateCalls } from "./late-calls.ts";

export interface CallOptions {
  readonly method: string;
  /** URL of the upstream, and path of the request after it. */
  readonly url: string;
  readonly path: string;
  /** Deadline of the head, ms. */
  readonly head: number;
  readonly signal: AbortSignal | undefined;
  readonly cancellation: Cancellation | undefined;
  /** Ends the call at its deadline. */
  readonly late: LateCalls;
  /** Called when the call is over, with its failure. */
  readonly over: (call: Call, failed: { readonly error: unknown } | undefined) => void;
}

/** Work that a call ends. */
export interface Stoppable {
  stop(reason: unknown): void;
}

/**
 * Request from the caller's call to the end of its response, across all attempts. It can be ended at any time: by the
 * caller's signal, by the deadline of its head, and by closing the upstream.
 */
export class Call implements Awaited {
  /** Whether a connection has begun to write the request. */
  delivered = false;
  readonly by: number;
  readonly #options: CallOptions;
  #accepted = false;
  #finished: { readonly failed: { readonly error: unknown } | undefined } | undefined;
  #over = false;
  #ended: { readonly reason: unknown } | undefined;
  #stop: Stoppable | undefined;

  constructor(options: CallOptions) {
    const { head, signal, cancellation, late } = options;
    this.#options = options;
    this.by = performance.now() + head;
    late.add(this);
    signal?.addEventListener("abort", this.#abort, { once: true });
    cancellation?.on(this.#cancelled);
  }

  /** Aborts the current attempt. The caller gets the reason. */
  end(reason: unknown): void {
    if (this.#over || this.#ended !== undefined) return;
    this.#ended = { reason };
    this.#stop?.stop(reason);
  }

  /** `GET https://host/path`, without the query. */
  get what(): string {
    return whatOf(this.#options);
  }

  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** Sets how to abort the current attempt; aborts it at once if the call has ended. */
  stopsBy(stop: Stoppable | undefined): void {
    this.#stop = stop;
    if (this.#ended !== undefined) stop?.stop(this.#ended.reason);
  }

  /** Waits for work that cannot be aborted. If the call ends, it rejects and ignores the work. */
  async until<T>(work: T | Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const before = this.#stop;
    this.stopsBy({ stop: reject });
    try {
      return await Promise.race([promise, work]);
    } finally {
      this.stopsBy(before);
    }
  }

  /** Stops the deadline: a head has arrived in time. */
  answered(): void {
    this.#options.late.delete(this);
  }

  /** Restarts the deadline: the response may not be the one for the caller, and the check counts against the same time. */
  waits(): void {
    this.#options.late.add(this);
  }

  expire(): void {
    this.end(this.failure("timeout", `no answer within ${this.#options.head} ms`));
  }

  /** Begins another attempt within the same deadline, because the response was not the one for the caller. */
  again(): void {
    this.#finished = undefined;
    this.waits();
  }

  /** Gives the response to the caller. */
  accept(): void {
    this.#options.late.delete(this);
    this.#accepted = true;
    if (this.#finished !== undefined) this.#close(this.#finished.failed);
  }

  /** Ends the attempt. The call is over if the caller has the response, or as soon as it gets it. */
  finish(failed?: { readonly error: unknown }): void {
    this.#finished ??= { failed };
    if (this.#accepted) this.#close(failed);
  }

  /** Ends the call without a response. */
  fail(error: unknown): void {
    this.#close({ error });
  }

  failure(code: TransportError["code"], text: string): TransportError {
    return new TransportError(code, `${this.what}: ${text}`, { delivered: this.delivered });
  }

  #close(failed: { readonly error: unknown } | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#stop = undefined;
    this.#options.late.delete(this);
    this.#options.signal?.removeEventListener("abort", this.#abort);
    this.#options.cancellation?.off(this.#cancelled);
    this.#options.over(this, failed);
  }

  readonly #abort = (): void => this.end(this.#options.signal?.reason);
  readonly #cancelled = (reason: unknown): void => this.end(reason);
}

/** Returns `GET https://host/path`, without the query. */
export function whatOf({ method, url, path }: Pick<CallOptions, "method" | "url" | "path">): string {
  return `${method} ${url}${path.split("?", 1)[0]}`;
}
