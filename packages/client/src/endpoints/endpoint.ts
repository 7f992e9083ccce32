import { aborted, type BackoffOptions, backoffDelay, type Clock, onAbort, sleep } from "@virtual-workspaces/transport";
import { Client, type ClientOptions } from "../client.ts";

/** One address of several that are followed, as `start` gets it. */
export interface Endpoint {
  /** As it was listed, without a slash at its end. */
  readonly url: string;
  /** As `rewrite` made it: where requests go. */
  readonly address: string;
  readonly client: Client;
  /** Aborts when the endpoint goes, or is started anew. */
  readonly signal: AbortSignal;
  /** Tells of a failure that what runs here gets over by itself: `onError` hears of it, and so does the status of one that is not ready. */
  readonly report: (error: unknown) => void;
}

/** What runs for an endpoint. It is disposed of when the endpoint goes; then, or when it fails, its signal has aborted. */
export interface EndpointRun extends Partial<AsyncDisposable>, Partial<Disposable> {
  /** The endpoint is ready once this resolves; it is started anew when this rejects. @default at once */
  readonly synced?: Promise<unknown>;
}

/** How an endpoint is: a Kubernetes condition of type `Ready`. */
export interface EndpointStatus {
  readonly url: string;
  readonly address: string;
  /** `True`: synced. `Unknown`: on its way. `False`: it failed, and is tried again. */
  readonly ready: "True" | "False" | "Unknown";
  readonly reason: "Starting" | "Syncing" | "Ready" | "Failed" | "Stopping";
  /** Why it failed. */
  readonly message: string;
  /** Since when `ready` is what it is. */
  readonly lastTransitionTime: Date;
  /** Failures in a row. */
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

/** An endpoint that is kept running until it is stopped. What fails is ended, waited for and started anew. */
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
    // Not now: whoever made it is to know it before it tells anything.
    this.#over = Promise.resolve().then(() => this.#keep());
  }

  /** How it is now. */
  get status(): EndpointStatus {
    return this.#status;
  }

  /** Ends it; resolves when all of it has ended. */
  async stop(): Promise<void> {
    this.#become({ ready: "False", reason: "Stopping", message: "" });
    this.#stop.abort(new Error(`${this.#terms.url} is not followed any more`));
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

  /** From the first connection to the last; rejects with what went wrong, and only when everything has ended. */
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
      ending.abort(new Error(`${url} is started anew`));
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
