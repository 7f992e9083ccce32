import { X509Certificate } from "node:crypto";
import { newSigningRequest } from "@virtual-workspaces/framework/tls";
import { newProof } from "../enrolment/agent-identity.ts";
import type { AgentState } from "./agent-state.ts";
import type { HubClient, HubClock, ReachedHubs } from "./hub-client.ts";
import type { AgentOptions } from "./options.ts";

/** How much of its time a certificate has had when it is renewed, and how much later at most, so that not all agents come at once. */
const RENEWED_AFTER = 2 / 3;
const SPREAD = 1 / 12;
/** So long before it is given out a certificate begins, ms. */
const LEEWAY = 60 * 60 * 1000;

/** Who an agent is to its hub: a certificate, got by a token and renewed by itself. */
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

  /** Shows who it is, anew for each request. @throws Error before it has a certificate */
  async proof(): Promise<string> {
    const { certificate } = this.#state;
    if (certificate === undefined) throw new Error("the agent has no certificate yet");
    return newProof(certificate, this.#clock.now);
  }

  /**
   * Sees to it that there is a certificate, by the token where there is none.
   *
   * @throws ApiError, TransportError with what the hub says; Error without a token
   */
  async enrolled(signal: AbortSignal): Promise<void> {
    if (this.#state.certificate !== undefined && !this.#isRefused) return this.#state.keep();
    const { token } = this.#options;
    this.#isRefused = false;
    if (token === undefined)
      throw new Error("the agent has no certificate: give it a token of `virtual-workspaces agent token`");
    await this.#get((request) => this.#hubs.configured.certificate(request, token, signal));
  }

  /** The certificate that it was started with is taken no more: if there is a token it is enrolled by that, once. @returns whether it is */
  refused(): boolean {
    const { certificate } = this.#state;
    const isNews = certificate !== undefined && certificate === this.#options.certificate && !this.#wasRefused;
    this.#wasRefused = true;
    this.#isRefused = isNews && this.#options.token !== undefined;
    return this.#isRefused;
  }

  /** Resolves once there is a certificate. */
  get first(): Promise<void> {
    return this.#first.promise;
  }

  /** When it is to be renewed, ms from now. */
  get renewIn(): number {
    const { certificate } = this.#state;
    if (certificate === undefined) return Number.POSITIVE_INFINITY;
    const { validFromDate, validToDate } = new X509Certificate(certificate.cert);
    const [from, to] = [validFromDate.getTime() + LEEWAY, validToDate.getTime()];
    return from + (to - from) * (RENEWED_AFTER + this.#spread) - this.#clock.now.getTime();
  }

  /** Another one, by the one that it has. @throws as {@link enrolled} */
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
