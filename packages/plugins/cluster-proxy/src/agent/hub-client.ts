import type { Duplex } from "node:stream";
import { Client, errorOf } from "@virtual-workspaces/client";
import { header, isUpgraded, type ResponseHeaders, Upstream } from "@virtual-workspaces/transport";
import { AgentCertificate } from "../enrolment/kinds.ts";
import { EPOCH_HEADER, TUNNEL_PATH, TUNNEL_PROTOCOL, VERSION_HEADER } from "../enrolment/wire.ts";
import type { AgentOptions } from "./options.ts";

/** A connection for a tunnel, and which agent the hub takes this one for. */
export interface DialledHub {
  readonly socket: Duplex;
  readonly epoch: number;
}

/** How far a clock may be wrong before what another says is believed instead, ms. */
const WRONG = 5_000;

/** What an agent asks of its hub. */
export class HubClient implements AsyncDisposable {
  readonly #hub: AgentOptions["hub"];
  readonly #upstream: Upstream;
  readonly #own: () => Date;
  /** What the hub's clock is ahead of this one's, ms. */
  #ahead = 0;

  /** @throws Error on a URL or authorities that cannot be used */
  constructor({ hub, now = () => new Date() }: Pick<AgentOptions, "hub" | "now">) {
    this.#hub = hub;
    this.#upstream = new Upstream(hub);
    this.#own = now;
  }

  /** What the hub's clock says, as far as it has said so. */
  get now(): Date {
    return new Date(this.#own().getTime() + this.#ahead);
  }

  /** A certificate for a key. @returns PEM @throws ApiError, TransportError */
  async certificate(request: string, bearer: string, signal: AbortSignal): Promise<string> {
    const credential = { headers: ["Authorization", `Bearer ${bearer}`] };
    // A token is taken once: what may have arrived is not sent again.
    const terms = { upstream: { ...this.#hub, credentials: { get: () => credential } }, retries: false } as const;
    await using client = new Client(terms);
    const { status } = await client
      .resource(AgentCertificate)
      .create({ metadata: { name: "" }, spec: { request } }, { signal });
    if (status?.certificate) return status.certificate;
    throw new Error("the hub has answered without a certificate");
  }

  /** A connection for a tunnel. @throws ApiError with what the hub says, TransportError when it cannot be had */
  async tunnel(
    bearer: () => Promise<string>,
    {
      epoch,
      version,
      signal,
    }: { readonly epoch: number | undefined; readonly version: string; readonly signal: AbortSignal },
  ): Promise<DialledHub> {
    const said = [...(epoch === undefined ? [] : [EPOCH_HEADER, String(epoch)]), VERSION_HEADER, version];
    const ask = async () =>
      this.#upstream.upgrade({
        path: TUNNEL_PATH,
        protocol: TUNNEL_PROTOCOL,
        headers: ["Authorization", `Bearer ${await bearer()}`, ...said],
        signal,
      });
    let answer = await ask();
    // Proofs are made by the clock: one that is wrong is put right by the hub's.
    if (answer.status === 401 && this.#adjust(answer.headers)) {
      if (!isUpgraded(answer)) await answer[Symbol.asyncDispose]();
      answer = await ask();
    }
    if (!isUpgraded(answer)) throw await errorOf(answer, "the hub");
    return { socket: answer.socket, epoch: Number(header(answer.headers, EPOCH_HEADER)) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#upstream[Symbol.asyncDispose]();
  }

  /** @returns whether its clock says something else than was believed */
  #adjust(headers: ResponseHeaders): boolean {
    const said = Date.parse(header(headers, "date") ?? "");
    const wrong = said - this.now.getTime();
    if (Number.isNaN(said) || Math.abs(wrong) < WRONG) return false;
    this.#ahead += wrong;
    return true;
  }
}
