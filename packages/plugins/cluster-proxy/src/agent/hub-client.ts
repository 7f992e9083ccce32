import type { Duplex } from "node:stream";
import { isApiError } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { errorOf } from "@virtual-workspaces/client/http";
import { header, isUpgraded, type ResponseHeaders, Upstream } from "@virtual-workspaces/transport";
import { AgentCertificate, AgentHub } from "../protocol/agent-kinds.ts";
import {
  EPOCH_HEADER,
  HUB_HEADER,
  OTHERS_HEADER,
  TLS_HEADER,
  TUNNEL_PATH,
  TUNNEL_PROTOCOL,
  VERSION_HEADER,
} from "../protocol/wire.ts";
import { dialWebSocket, type UpgradeAnswer } from "./dial-websocket.ts";
import type { AgentOptions, NamedHub } from "./options.ts";

/** A connection for a tunnel, which agent the hub takes this one for, which hub it is, and how many others there are. */
export interface DialledHub {
  readonly socket: Duplex;
  readonly epoch: number;
  readonly id: string;
  readonly others: number;
}

/** What is said when a tunnel is asked for. */
export interface TunnelTerms {
  /** As the hub has said it. */
  readonly epoch: number | undefined;
  readonly version: string;
  /** Who talks TLS with its API server. */
  readonly tls: "Agent" | "EndToEnd";
  readonly signal: AbortSignal;
}

/** What an agent asks of its hub. */
export class HubClient implements AsyncDisposable {
  readonly #hub: AgentOptions["hub"];
  readonly #upstream: Upstream;
  readonly #clock: HubClock;
  /** Whether tunnels are in the frames of WebSockets. */
  #framed = false;

  /** @throws Error on a URL or authorities that cannot be used */
  constructor(hub: AgentOptions["hub"], clock: HubClock) {
    this.#hub = hub;
    this.#upstream = new Upstream(hub);
    this.#clock = clock;
  }

  /** Where it is. */
  get url(): string {
    return this.#upstream.url;
  }

  /** A certificate for a key. @returns PEM @throws ApiError, TransportError */
  async certificate(request: string, bearer: string, signal: AbortSignal): Promise<string> {
    await using client = this.#client(bearer);
    const { status } = await client
      .resource(AgentCertificate)
      .create({ metadata: { name: "" }, spec: { request } }, { signal });
    if (status?.certificate) return status.certificate;
    throw new Error("the hub has answered without a certificate");
  }

  /** Which hubs there are that can be dialled by themselves. @throws ApiError, TransportError */
  async hubs(bearer: string, signal: AbortSignal): Promise<readonly NamedHub[]> {
    await using client = this.#client(bearer);
    const { items } = await client.resource(AgentHub).list({ signal });
    return items.map(({ metadata, status: { url = "", certificateAuthority: ca } = {} }) => {
      return { id: metadata.name ?? "", url, ...(ca !== undefined && { ca }) };
    });
  }

  /** One that was named, reached as this one is. @throws Error on a URL or authorities that cannot be used */
  other({ url, ca }: NamedHub): HubClient {
    const { tls, ...rest } = this.#hub;
    const trust = ca ?? tls?.ca;
    return new HubClient({ ...rest, url, ...(trust !== undefined && { tls: { ca: trust } }) }, this.#clock);
  }

  /**
   * A connection for a tunnel: as a protocol of our own, or, where something on the way does not pass that, in the frames of a WebSocket.
   *
   * @throws ApiError with what the hub says, TransportError when it cannot be had
   */
  async tunnel(bearer: () => Promise<string>, asked: TunnelTerms): Promise<DialledHub> {
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

  async #dialled(bearer: () => Promise<string>, asked: TunnelTerms): Promise<DialledHub> {
    let answer = await this.#asked(await bearer(), asked);
    // Proofs are made by the clock: one that is wrong is put right by the hub's.
    if ("error" in answer && answer.error.code === 401 && this.#clock.adjust(answer.headers))
      answer = await this.#asked(await bearer(), asked);
    if ("error" in answer) throw answer.error;
    const { socket, headers } = answer;
    const [epoch, id, others] = [EPOCH_HEADER, HUB_HEADER, OTHERS_HEADER].map((name) => header(headers, name));
    return { socket, epoch: Number(epoch), id: id ?? "", others: Number(others ?? 0) };
  }

  async #asked(bearer: string, { epoch, version, tls, signal }: TunnelTerms): Promise<UpgradeAnswer> {
    const headers = {
      Authorization: `Bearer ${bearer}`,
      [VERSION_HEADER]: version,
      [TLS_HEADER]: tls,
      ...(epoch !== undefined && { [EPOCH_HEADER]: String(epoch) }),
    };
    const request = { path: TUNNEL_PATH, protocol: TUNNEL_PROTOCOL, signal };
    if (this.#framed) return dialWebSocket({ ...request, hub: this.#hub, headers });
    const answer = await this.#upstream.upgrade({ ...request, headers: Object.entries(headers).flat() });
    return isUpgraded(answer) ? answer : { error: await errorOf(answer, "the hub"), headers: answer.headers };
  }

  #client(bearer: string): Client {
    const credential = { headers: ["Authorization", `Bearer ${bearer}`] };
    // A token is taken once: what may have arrived is not sent again.
    return new Client({ upstream: { ...this.#hub, credentials: { get: () => credential } }, retries: false });
  }
}

/** How far a clock may be wrong before what another says is believed instead, ms. */
const WRONG = 5_000;

/** The clock by which an agent shows who it is: its machine's, or as a hub says where that is wrong. */
export class HubClock {
  readonly #own: () => Date;
  /** ms */
  #ahead = 0;

  constructor(own: () => Date = () => new Date()) {
    this.#own = own;
  }

  /** What hubs' clocks say, as far as one has said so. */
  get now(): Date {
    return new Date(this.#own().getTime() + this.#ahead);
  }

  /** A hub has answered. @returns whether its clock says something else than was believed */
  adjust(headers: ResponseHeaders): boolean {
    const said = Date.parse(header(headers, "date") ?? "");
    const wrong = said - this.now.getTime();
    if (Number.isNaN(said) || Math.abs(wrong) < WRONG) return false;
    this.#ahead += wrong;
    return true;
  }
}

/** The hubs that an agent can ask something: those that it has tunnels to, and the one that it was told of. */
export class ReachedHubs {
  readonly configured: HubClient;
  readonly #reached = new Set<HubClient>();

  constructor(told: HubClient) {
    this.configured = told;
  }

  /** There is a tunnel to it, or one more. */
  add(hub: HubClient): void {
    this.#reached.add(hub);
  }

  remove(hub: HubClient): void {
    this.#reached.delete(hub);
  }

  /** What the first of them says that can say something. @throws what the last has thrown, or one that has refused; the signal's reason */
  async ask<T>(what: (hub: HubClient) => Promise<T>, signal: AbortSignal): Promise<T> {
    let failed: unknown;
    for (const hub of new Set([...this.#reached, this.configured])) {
      try {
        return await what(hub);
      } catch (error) {
        signal.throwIfAborted();
        if (isApiError(error) && error.code < 500) throw error;
        failed = error;
      }
    }
    throw failed;
  }
}
