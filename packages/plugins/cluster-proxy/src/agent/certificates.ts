import { X509Certificate } from "node:crypto";
import { type KeyPair, newSigningRequest } from "@virtual-workspaces/framework";
import { newProof } from "../enrolment/agent-proof.ts";
import type { HubClient } from "./hub-client.ts";
import type { HubClock } from "./hub-clock.ts";
import type { AgentOptions } from "./options.ts";

/** How much of its time a certificate has had when it is renewed, and how much later at most, so that not all agents come at once. */
const RENEWED_AFTER = 2 / 3;
const SPREAD = 1 / 12;
/** So long before it is given out a certificate begins, ms. */
const LEEWAY = 60 * 60 * 1000;

/** Who an agent is to its hub: a certificate, got by a token and renewed by itself. */
export class Certificates {
  readonly #hub: Pick<HubClient, "certificate">;
  readonly #clock: HubClock;
  readonly #options: Pick<AgentOptions, "token" | "certificate" | "keep" | "onEvent">;
  #pair: KeyPair | undefined;
  #kept = true;
  #isRefused = false;
  #wasRefused = false;
  readonly #spread = Math.random() * SPREAD;
  readonly #first = Promise.withResolvers<void>();

  constructor(
    hub: Pick<HubClient, "certificate">,
    clock: HubClock,
    options: Pick<AgentOptions, "token" | "certificate" | "keep" | "onEvent">,
  ) {
    this.#hub = hub;
    this.#clock = clock;
    this.#options = options;
    this.#pair = options.certificate;
    if (this.#pair !== undefined) this.#first.resolve();
  }

  /** Shows who it is, anew for each request. @throws Error before it has a certificate */
  async proof(): Promise<string> {
    if (this.#pair === undefined) throw new Error("the agent has no certificate yet");
    return newProof(this.#pair, this.#clock.now);
  }

  /**
   * Sees to it that there is a certificate, by the token where there is none.
   *
   * @throws ApiError, TransportError with what the hub says; Error without a token
   */
  async enrolled(signal: AbortSignal): Promise<void> {
    if (this.#pair !== undefined && !this.#isRefused) return this.#keep();
    const { token } = this.#options;
    this.#isRefused = false;
    if (token === undefined)
      throw new Error("the agent has no certificate: give it a token of `virtual-workspaces agent token`");
    await this.#get(token, signal);
  }

  /** The certificate that it was started with is taken no more: if there is a token it is enrolled by that, once. @returns whether it is */
  refused(): boolean {
    const isNews = this.#pair !== undefined && this.#pair === this.#options.certificate && !this.#wasRefused;
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
    if (this.#pair === undefined) return Number.POSITIVE_INFINITY;
    const { validFromDate, validToDate } = new X509Certificate(this.#pair.cert);
    const [from, to] = [validFromDate.getTime() + LEEWAY, validToDate.getTime()];
    return from + (to - from) * (RENEWED_AFTER + this.#spread) - this.#clock.now.getTime();
  }

  /** Another one, by the one that it has. @throws as {@link enrolled} */
  async renew(signal: AbortSignal): Promise<void> {
    await this.#get(await this.proof(), signal);
  }

  async #get(bearer: string, signal: AbortSignal): Promise<void> {
    const { request, key } = await newSigningRequest({ name: "clusterproxy-agent", groups: [] });
    const cert = await this.#hub.certificate(request, bearer, signal);
    const { validToDate } = new X509Certificate(cert);
    this.#pair = { cert, key };
    this.#kept = false;
    this.#first.resolve();
    this.#options.onEvent?.({ type: "certified", expires: validToDate });
    await this.#keep();
  }

  async #keep(): Promise<void> {
    if (this.#kept || this.#pair === undefined) return;
    try {
      await this.#options.keep(this.#pair);
      this.#kept = true;
    } catch (error) {
      // It is good all the same, until the agent ends.
      this.#options.onEvent?.({ type: "failed", what: "keep", error });
    }
  }
}
