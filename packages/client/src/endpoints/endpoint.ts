import { aborted, type BackoffOptions, backoffDelay, type Clock, onAbort, sleep } from "@virtual-workspaces/transport";
import { Client, type ClientOptions } from "../client.ts";

/** One of several endpoints, as `start` receives it. */
export interface Endpoint {
  /** URL in the list, without a trailing slash. */
  readonly url: string;
  /** URL for requests: the result of `rewrite`. */
  readonly address: string;
  readonly client: Client;
  /** Aborts when the endpoint is removed or restarts. */
  readonly signal: AbortSignal;
  /** Reports an error that the running code recovers from: to `onError`, and in the status of an endpoint that is not ready. */
  readonly report: (error: unknown) => void;
}

/** Running code of an endpoint. It is disposed when the endpoint is removed or fails, after the signal has aborted. */
export interface EndpointRun extends Partial<AsyncDisposable>, Partial<Disposable> {
  /** The endpoint is ready when this resolves, and restarts when it rejects. @default ready at once */
  readonly synced?: Promise<unknown>;
}

/** Status of an endpoint: a Kubernetes condition of type `Ready`. */
export interface EndpointStatus {
  readonly url: string;
  readonly address: string;
  /** `True`: synced. `Unknown`: starting. `False`: failed; a retry follows. */
  readonly ready: "True" | "False" | "Unknown";
  readonly reason: "Starting" | "Syncing" | "Ready" | "Failed" | "Stopping";
  /** Error of the last failure. */
  readonly message: string;
  /** Time of the last change of `ready`. */
  readonly lastTransitionTime: Date;
  /** Number of consecutive failures. */
  readonly failures: number;
}

export interface EndpointTerms {
  readonly url: string;
  readonly address: string;
  readonly connect: (url: string) => Client | ClientOptions;
  readonly start: (endpoint: Endpoint) => Promise<EndpointRun | undefined> | EndpointRun | undefined;
  readonly changed: (endpoint: RunningEndpoint) => void;
  readonly failed: (error: unknown, url: string) => void;
  readonly clock: Clock;
}

const BACKOFF: BackoffOptions = { first: 500, most: 30_000, jitter: [0.75, 1.25] };

/** Endpoint that runs until it is stopped. After a failure it stops, waits for its backoff, and restarts. */
export class RunningEndpoint {
  readonly #terms: EndpointTerms;
  readonly #stop = new AbortController();
  readonly #over: Promise<void>;
  #status: EndpointStatus;

  constructor(terms: EndpointTerms) {
    const { url, address } = terms;
    const lastTransitionTime = new Date();
    this.#terms = terms;
    this.#status = { url, address, ready: "Unknown", reason: "Starting", message: "", lastTransitionTime, failures: 0 };
    // Deferred, so that the creator has this object before the first callback.
    this.#over = Promise.resolve().then(() => this.#keep());
  }

  /** Current status. */
  get status(): EndpointStatus {
    return this.#status;
  }

  /** Stops the endpoint. Resolves when all its code has stopped. */
  async stop(): Promise<void> {
    this.#become({ ready: "False", reason: "Stopping", message: "" });
    this.#stop.abort(new Error(`endpoint ${this.#terms.url}: removed from the list`));
    await this.#over;
  }

  async #keep(): Promise<void> {
    const { signal } = this.#stop;
    const { clock } = this.#terms;
    while (!signal.aborted) {
      try {
        await this.#run();
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(error);
        await sleep(backoffDelay(this.#status.failures, BACKOFF), { clock, signal });
      }
    }
  }

  /** Runs until the first failure, and rejects with it once everything has stopped. */
  async #run(): Promise<void> {
    const { url, address, connect, start, failed } = this.#terms;
    const stopped = this.#stop.signal;
    await using stack = new AsyncDisposableStack();
    const made = connect(address);
    const client = stack.use(made instanceof Client ? made : new Client(made));
    const ending = new AbortController();
    const linked = onAbort(stopped, () => ending.abort(stopped.reason));
    const { signal } = ending;
    const ended = aborted(signal);
    if (stopped.aborted) return;
    let run: EndpointRun | undefined;
    stack.defer(async () => {
      linked[Symbol.dispose]();
      ending.abort(new Error(`endpoint ${url}: restarting`));
      await (run?.[Symbol.asyncDispose]?.() ?? run?.[Symbol.dispose]?.());
    });
    const report = (error: unknown): void => {
      if (signal.aborted) return;
      if (this.#status.ready === "True") failed(error, url);
      else this.#failed(error);
    };
    run = (await start({ url, address, client, signal, report })) ?? undefined;
    if (!signal.aborted) this.#become({ ready: "Unknown", reason: "Syncing", message: this.#status.message });
    await Promise.race([run?.synced, ended]);
    if (signal.aborted) return;
    this.#become({ ready: "True", reason: "Ready", message: "", failures: 0 });
    await ended;
  }

  #failed(error: unknown): void {
    const failures = this.#status.failures + 1;
    const message = error instanceof Error ? error.message : String(error);
    this.#terms.failed(error, this.#terms.url);
    this.#become({ ready: "False", reason: "Failed", message, failures });
  }

  #become(change: Pick<EndpointStatus, "ready" | "reason" | "message"> & { readonly failures?: number }): void {
    const { ready, lastTransitionTime } = this.#status;
    const since = ready === change.ready ? lastTransitionTime : new Date();
    this.#status = { ...this.#status, ...change, lastTransitionTime: since };
    this.#terms.changed(this);
  }
}
