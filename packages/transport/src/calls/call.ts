import { Timer } from "../time/timer.ts";
import { TransportError } from "../transport-error.ts";

export interface CallOptions {
  /** `GET https://host/path`, without the query: asked for when something fails. */
  readonly what: () => string;
  /** Until the head has come, ms. */
  readonly head: number;
  readonly signal: AbortSignal | undefined;
  /** Told when nothing more is to come of the call, and of what it failed. */
  readonly over: (call: Call, failed: { readonly error: unknown } | undefined) => void;
}

/**
 * A request from the caller's call to the end of its answer, over all that is tried meanwhile. It can be ended at any
 * moment: by the caller's signal, the deadline of its head, and when the upstream is closed.
 */
export class Call {
  /** Whether a connection has begun to write it. */
  delivered = false;
  readonly #options: CallOptions;
  readonly #by: number;
  #late: Timer;
  #accepted = false;
  #finished: { readonly failed: { readonly error: unknown } | undefined } | undefined;
  #over = false;
  #ended: { readonly reason: unknown } | undefined;
  #stop: ((reason: unknown) => void) | undefined;

  constructor(options: CallOptions) {
    const { head, signal } = options;
    this.#options = options;
    this.#by = performance.now() + head;
    this.#late = this.#timer();
    signal?.addEventListener("abort", this.#abort, { once: true });
  }

  /** Gives up what is under way, for a reason that its caller is told. */
  end(reason: unknown): void {
    if (this.#over || this.#ended !== undefined) return;
    this.#ended = { reason };
    this.#stop?.(reason);
  }

  /** `GET https://host/path`, without the query. */
  get what(): string {
    return this.#options.what();
  }

  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** Says how to give up what is under way now; at once, if the call has ended already. */
  stopsBy(stop: ((reason: unknown) => void) | undefined): void {
    this.#stop = stop;
    if (this.#ended !== undefined) stop?.(this.#ended.reason);
  }

  /** Waits for something that cannot be ended, and is left alone when the call ends. */
  async until<T>(work: T | Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const before = this.#stop;
    this.stopsBy(reject);
    try {
      return await Promise.race([promise, work]);
    } finally {
      this.stopsBy(before);
    }
  }

  /** A head has come in time. */
  answered(): void {
    this.#late.clear();
  }

  /** What has come may be no answer for the caller: to find out is waited for within the same time. */
  waits(): void {
    this.#late.clear();
    this.#late = this.#timer();
  }

  /** That was no answer for the caller: another is tried for, within the same time. */
  again(): void {
    this.#finished = undefined;
    this.waits();
  }

  /** The caller gets what has come. */
  accept(): void {
    this.#late.clear();
    this.#accepted = true;
    if (this.#finished !== undefined) this.#close(this.#finished.failed);
  }

  /** Nothing more is to come of what was tried: the end, if the caller has got it, or as soon as that is so. */
  finish(failed?: { readonly error: unknown }): void {
    this.#finished ??= { failed };
    if (this.#accepted) this.#close(failed);
  }

  /** No answer for the caller. */
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
    this.#late.clear();
    this.#options.signal?.removeEventListener("abort", this.#abort);
    this.#options.over(this, failed);
  }

  #timer(): Timer {
    const late = (): void => this.end(this.failure("timeout", `no answer within ${this.#options.head} ms`));
    return new Timer(this.#by - performance.now(), late);
  }

  readonly #abort = (): void => this.end(this.#options.signal?.reason);
}
