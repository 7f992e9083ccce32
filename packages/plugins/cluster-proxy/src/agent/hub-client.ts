import type { Duplex } from "node:stream";
import { isApiError } from "@virtual-workspaces/apimachinery";
import { Client, errorOf } from "@virtual-workspaces/client";
import { header, isUpgraded, type ResponseHeaders, Upstream } from "@virtual-workspaces/transport";
import { AgentCertificate } from "../enrolment/kinds.ts";
import { EPOCH_HEADER, TUNNEL_PATH, TUNNEL_PROTOCOL, VERSION_HEADER } from "../enrolment/wire.ts";
import { type Answered, dialWebSocket } from "./dial-websocket.ts";
import type { AgentOptions } from "./options.ts";

/** A connection for a tunnel, and which agent the hub takes this one for. */
export interface DialledHub {
  readonly socket: Duplex;
  readonly epoch: number;
}

/** What is said when a tunnel is asked for. */
export interface AskedTunnel {
  /** As the hub has said it. */
  readonly epoch: number | undefined;
  readonly version: string;
  readonly signal: AbortSignal;
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
  /** Whether tunnels are in the frames of WebSockets. */
  #framed = false;

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

  /**
   * A connection for a tunnel: as a protocol of our own, or, where something on the way does not pass that, in the frames of a WebSocket.
   *
   * @throws ApiError with what the hub says, TransportError when it cannot be had
   */
  async tunnel(bearer: () => Promise<string>, asked: AskedTunnel): Promise<DialledHub> {
    try {
      return await this.#dialled(bearer, asked);
    } catch (error) {
      // Whatever has answered is no hub: the next time it is asked otherwise.
      if (isApiError(error) && error.status.reason === undefined) this.#framed = !this.#framed;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#upstream[Symbol.asyncDispose]();
  }

  async #dialled(bearer: () => Promise<string>, asked: AskedTunnel): Promise<DialledHub> {
    let answer = await this.#asked(await bearer(), asked);
    // Proofs are made by the clock: one that is wrong is put right by the hub's.
    if ("error" in answer && answer.error.code === 401 && this.#adjust(answer.headers))
      answer = await this.#asked(await bearer(), asked);
    if ("error" in answer) throw answer.error;
    return { socket: answer.socket, epoch: Number(header(answer.headers, EPOCH_HEADER)) };
  }

  async #asked(bearer: string, { epoch, version, signal }: AskedTunnel): Promise<Answered> {
    const headers = {
      Authorization: `Bearer ${bearer}`,
      [VERSION_HEADER]: version,
      ...(epoch !== undefined && { [EPOCH_HEADER]: String(epoch) }),
    };
    const request = { path: TUNNEL_PATH, protocol: TUNNEL_PROTOCOL, signal };
    if (this.#framed) return dialWebSocket({ ...request, hub: this.#hub, headers });
    const answer = await this.#upstream.upgrade({ ...request, headers: Object.entries(headers).flat() });
    return isUpgraded(answer) ? answer : { error: await errorOf(answer, "the hub"), headers: answer.headers };
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
