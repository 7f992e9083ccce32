import { retry } from "@virtual-workspaces/transport";
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
  #checking: Promise<void> | undefined;

  constructor(options: HttpClientOptions) {
    this.#client = new HttpClient(options);
    this.#timeout = Math.min(options.timeout, PATIENCE);
    this.#ended = options.signal;
    this.signal = this.#gone.signal;
  }

  /** Sends a request, at most one at a time. Any response counts. */
  async check(): Promise<void> {
    if (this.reason !== undefined) return;
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    await this.#checking;
  }

  async #check(): Promise<void> {
    const delayAfter = (error: unknown, failures: number): number => {
      if (error instanceof TransportError && failures < ATTEMPTS) return AGAIN;
      throw error;
    };
    try {
      await retry(() => this.#client.call("/api", { timeout: this.#timeout }), { signal: this.#ended, delayAfter });
    } catch (error) {
      if (this.#ended.aborted) return;
      if (!(error instanceof TransportError)) throw error;
      this.reason = error.reason;
      this.#gone.abort(error);
    }
  }

  [Symbol.dispose](): void {
    this.#client[Symbol.dispose]();
  }
}
