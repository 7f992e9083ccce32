import { isTransportError, sleep, type TransportErrorCode, type Upstream } from "@virtual-workspaces/transport";
import type { ApiState } from "../protocol/api-states.ts";

/** Options of {@link ApiProbe}. */
export interface ApiProbeOptions {
  readonly upstream: Pick<Upstream, "send">;
  /** Interval between probes, ms. @default 10000 */
  readonly every?: number | undefined;
  /** Called when the state has changed, with the failure of the last probe if there was one. */
  readonly changed: (state: ApiState, error: unknown) => void;
}

const EVERY = 10_000;
/** Maximum interval between probes of an API server that does not answer, ms. */
const AGAIN = 1_000;
/** Time limit for the version request, ms. */
const HEAD = 10_000;
/** Maximum size of the response, bytes. */
const LONGEST = 64 * 1024;
/** Number of failed probes after which a working API server counts as unavailable: it may be restarting. */
const FAILURES = 2;

/**
 * Requests the version of the API server behind an agent. Any response of an API server counts as available, since its rules may forbid
 * the version. A failed request of a caller causes a probe at once.
 */
export class ApiProbe {
  readonly #options: ApiProbeOptions;
  readonly #first = Promise.withResolvers<void>();
  #state: ApiState | undefined;
  #failures = 0;
  #wake = (): void => undefined;

  constructor(options: ApiProbeOptions) {
    const { every = EVERY } = options;
    if (!(every >= 10)) throw new Error("invalid probeEvery of an agent: use at least 10 ms");
    this.#options = options;
  }

  /** Current state; `undefined` before the first probe has ended. */
  get state(): ApiState | undefined {
    return this.#state;
  }

  /** Resolves when the first probe has ended. */
  get first(): Promise<void> {
    return this.#first.promise;
  }

  /** Probes soon, since a request has failed. */
  suspect(): void {
    this.#wake();
  }

  /** Probes until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { every = EVERY } = this.#options;
    while (!signal.aborted) {
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      await this.#probe(signal);
      const isSound = this.#state === "Available" && this.#failures === 0;
      const wait = isSound ? every : Math.min(every, AGAIN);
      // Further failures of requests tell nothing new while probes fail.
      await sleep(wait, { signal: isSound ? AbortSignal.any([signal, woken.signal]) : signal, ref: false });
    }
  }

  async #probe(signal: AbortSignal): Promise<void> {
    const [state, error] = await stateOf(this.#options.upstream, signal);
    if (signal.aborted) return;
    this.#failures = state === "Available" ? 0 : this.#failures + 1;
    const isPassing = this.#state === "Available" && this.#failures > 0 && this.#failures < FAILURES;
    if (state !== this.#state && !isPassing) {
      this.#state = state;
      this.#options.changed(state, error);
    }
    this.#first.resolve();
  }
}

async function stateOf(
  upstream: Pick<Upstream, "send">,
  signal: AbortSignal,
): Promise<readonly [ApiState, error?: unknown]> {
  try {
    const { status } = await upstream.send({ path: "/version", deadlines: { head: HEAD }, limit: LONGEST, signal });
    if (status === 401)
      return ["CredentialRejected", new Error("the API server answers 401 to the agent's credential")];
    if (status >= 500 || (status >= 300 && status < 400))
      return ["Failing", new Error(`the API server answers ${status} to the version request`)];
    return ["Available"];
  } catch (error) {
    return [(isTransportError(error) && STATES[error.code]) || "Failing", error];
  }
}

const STATES: Partial<Readonly<Record<TransportErrorCode, ApiState>>> = {
  connect: "Unreachable",
  timeout: "Unreachable",
  tls: "Untrusted",
};
