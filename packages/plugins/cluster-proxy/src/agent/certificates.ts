import { X509Certificate } from "node:crypto";
import { newSigningRequest } from "@virtual-workspaces/framework/tls";
import { newProof } from "../enrolment/agent-identity.ts";
import type { AgentState } from "./agent-state.ts";
import type { HubClient, HubClock, ReachedHubs } from "./hub-client.ts";
import type { AgentOptions } from "./options.ts";

/** Fraction of a certificate's lifetime before its renewal, and the maximum random delay, which spreads agents. */
const RENEWED_AFTER = 2 / 3;
const SPREAD = 1 / 12;
/** Time before its issue from which a certificate is valid, ms. */
const LEEWAY = 60 * 60 * 1000;

/** Identity of an agent at its hub: a certificate that is obtained with a token and renewed automatically. */
export class Certificates {
  readonly #hubs: ReachedHubs;
  readonly #clock: HubClock;
  readonly #state: AgentState;
  readonly #options: Pick<AgentOptions, "token" | "certificate" | "onEvent">;
  #isRefused = false;
  #wasRefused = false;
  readonly #spread = Math.random() * SPREAD;
  readonly #first = Promise.withResolvers<void>();

  constructor(
    hubs: ReachedHubs,
    { clock, state }: { readonly clock: HubClock; readonly state: AgentState },
    options: Pick<AgentOptions, "token" | "certificate" | "onEvent">,
  ) {
    this.#hubs = hubs;
    this.#clock = clock;
    this.#state = state;
    this.#options = options;
    if (state.certificate !== undefined) this.#first.resolve();
  }

  /** Returns a new proof of identity for a request. @throws Error before the first certificate */
  async proof(): Promise<string> {
    const { certificate } = this.#state;
    if (certificate === undefined) throw new Error("the agent has no certificate yet");
    return newProof(certificate, this.#clock.now);
  }

  /**
   * Obtains the first certificate with the token unless there is one.
   *
   * @throws ApiError or TransportError of the hub; Error without a token
   */
  async enrolled(signal: AbortSignal): Promise<void> {
    if (this.#state.certificate !== undefined && !this.#isRefused) return this.#state.keep();
    const { token } = this.#options;
    this.#isRefused = false;
    if (token === undefined)
      throw new Error("the agent has no certificate: set a token of `virtual-workspaces agent token`");
    await this.#get((request) => this.#hubs.configured.certificate(request, token, signal));
  }

  /** Handles a rejection of the initial certificate: with a token, enrolls once again. @returns whether it does */
  refused(): boolean {
    const { certificate } = this.#state;
    const isNews = certificate !== undefined && certificate === this.#options.certificate && !this.#wasRefused;
    this.#wasRefused = true;
    this.#isRefused = isNews && this.#options.token !== undefined;
    return this.#isRefused;
  }

  /** Resolves with the first certificate. */
  get first(): Promise<void> {
    return this.#first.promise;
  }

  /** Delay until the next renewal, ms. */
  get renewIn(): number {
    const { certificate } = this.#state;
    if (certificate === undefined) return Number.POSITIVE_INFINITY;
    const { validFromDate, validToDate } = new X509Certificate(certificate.cert);
    const [from, to] = [validFromDate.getTime() + LEEWAY, validToDate.getTime()];
    return from + (to - from) * (RENEWED_AFTER + this.#spread) - this.#clock.now.getTime();
  }

  /** Renews the certificate with the current one. @throws as {@link enrolled} */
  async renew(signal: AbortSignal): Promise<void> {
    const renewed = async (hub: HubClient, request: string) => hub.certificate(request, await this.proof(), signal);
    await this.#get((request) => this.#hubs.ask((hub) => renewed(hub, request), signal));
  }

  async #get(signed: (request: string) => Promise<string>): Promise<void> {
    const { request, key } = await newSigningRequest({ name: "clusterproxy-agent", groups: [] });
    const cert = await signed(request);
    const { validToDate } = new X509Certificate(cert);
    const kept = this.#state.certify({ cert, key });
    this.#first.resolve();
    this.#options.onEvent?.({ type: "certified", expires: validToDate });
    await kept;
  }
}
