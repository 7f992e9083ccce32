import { setTimeout as delay } from "node:timers/promises";
import { TransportError } from "../http/answer.ts";
import { HttpClient, type HttpClientOptions } from "../http/client.ts";

/** Number of attempts before a server counts as gone, and the time between them, ms. */
const [ATTEMPTS, AGAIN] = [3, 300];
/** Deadline of an attempt, ms. */
const PATIENCE = 5_000;

/** Decides whether a server still answers, so that a run ends when it does not. */
export class Reachability implements Disposable {
  /** Aborts when the server is gone. */
  readonly signal: AbortSignal;
  /** Why the server is gone. */
  reason: string | undefined;
  readonly #client: HttpClient;
  readonly #timeout: number;
  readonly #ended: AbortSignal;
  readonly #gone = new AbortController();
  #asking: Promise<void> | undefined;

  constructor(options: HttpClientOptions) {
    this.#client = new HttpClient(options);
    this.#timeout = Math.min(options.timeout, PATIENCE);
    this.#ended = options.signal;
    this.signal = this.#gone.signal;
  }

  /** Asks the server, at most once at a time. Any answer counts. */
  async check(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    await this.#asking;
  }

  async #ask(): Promise<void> {
    for (let attempt = 1; this.reason === undefined; attempt++) {
      try {
        await this.#client.call("/api", { timeout: this.#timeout });
        return;
      } catch (error) {
        if (!(error instanceof TransportError)) throw error;
        if (this.#ended.aborted) return;
        if (attempt === ATTEMPTS) {
          this.reason = error.reason;
          this.#gone.abort(error);
        } else await delay(AGAIN);
      }
    }
  }

  [Symbol.dispose](): void {
    this.#client[Symbol.dispose]();
  }
}
