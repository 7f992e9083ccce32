import type { Duplex } from "node:stream";
import { isApiError } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { errorOf } from "@virtual-workspaces/client/http";
import { header, isUpgraded, type ResponseHeaders, Upstream } from "@virtual-workspaces/transport";
import { AgentCertificate, AgentHub } from "../protocol/agent-kinds.ts";
import type { ApiState } from "../protocol/api-states.ts";
import {
  API_STATE_HEADER,
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

/** Connection for a tunnel, with the agent's epoch, the hub's id, and the number of other hubs. */
export interface DialledHub {
  readonly socket: Duplex;
  readonly epoch: number;
  readonly id: string;
  readonly others: number;
}

/** Parameters of a new tunnel. */
export interface TunnelTerms {
  /** Epoch that a hub has assigned. */
  readonly epoch: number | undefined;
  readonly version: string;
  /** Party that terminates TLS with the API server. */
  readonly tls: "Agent" | "EndToEnd";
  /** State of the API server, if a probe has ended. */
  readonly api: ApiState | undefined;
  readonly signal: AbortSignal;
}

/** Client of an agent for its hub. */
export class HubClient implements AsyncDisposable {
  readonly #hub: AgentOptions["hub"];
  readonly #upstream: Upstream;
  readonly #clock: HubClock;
  /** Whether tunnels use WebSocket frames. */
  #framed = false;

  /** @throws Error on an invalid URL or CA certificate */
  constructor(hub: AgentOptions["hub"], clock: HubClock) {
    this.#hub = hub;
    this.#upstream = new Upstream(hub);
    this.#clock = clock;
  }

  /** URL of the hub. */
  get url(): string {
    return this.#upstream.url;
  }

  /** Requests a certificate. @returns PEM @throws ApiError; TransportError */
  async certificate(request: string, bearer: string, signal: AbortSignal): Promise<string> {
    await using client = this.#client(bearer);
    const { status } = await client
      .resource(AgentCertificate)
      .create({ metadata: { name: "" }, spec: { request } }, { signal });
    if (status?.certificate) return status.certificate;
    throw new Error("the response of the hub has no certificate");
  }

  /** Returns the hubs with addresses of their own. @throws ApiError; TransportError */
  async hubs(bearer: string, signal: AbortSignal): Promise<readonly NamedHub[]> {
    await using client = this.#client(bearer);
    const { items } = await client.resource(AgentHub).list({ signal });
    return items.map(({ metadata, status: { url = "", certificateAuthority: ca } = {} }) => {
      return { id: metadata.name ?? "", url, ...(ca !== undefined && { ca }) };
    });
  }

  /** Returns a client of another hub with the same settings. @throws Error on an invalid URL or CA certificate */
  other({ url, ca }: NamedHub): HubClient {
    const { tls, ...rest } = this.#hub;
    const trust = ca ?? tls?.ca;
    return new HubClient({ ...rest, url, ...(trust !== undefined && { tls: { ca: trust } }) }, this.#clock);
  }

  /**
   * Opens a connection for a tunnel: with the tunnel's own upgrade protocol, or with WebSocket frames if a proxy on the way does not
   * forward that.
   *
   * @throws ApiError of the hub; TransportError
   */
  async tunnel(bearer: () => Promise<string>, asked: TunnelTerms): Promise<DialledHub> {
    try {
      return await this.#dialled(bearer, asked);
    } catch (error) {
      // The response is not that of a hub: the next attempt uses the other protocol.
      if (isApiError(error) && error.status.reason === undefined) this.#framed = !this.#framed;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#upstream[Symbol.asyncDispose]();
  }

  async #dialled(bearer: () => Promise<string>, asked: TunnelTerms): Promise<DialledHub> {
    let answer = await this.#asked(await bearer(), asked);
    // Proofs contain the time: a wrong local clock is adjusted to that of the hub.
    if ("error" in answer && answer.error.code === 401 && this.#clock.adjust(answer.headers))
      answer = await this.#asked(await bearer(), asked);
    if ("error" in answer) throw answer.error;
    const { socket, headers } = answer;
    const [epoch, id, others] = [EPOCH_HEADER, HUB_HEADER, OTHERS_HEADER].map((name) => header(headers, name));
    return { socket, epoch: Number(epoch), id: id ?? "", others: Number(others ?? 0) };
  }

  async #asked(bearer: string, { epoch, version, tls, api, signal }: TunnelTerms): Promise<UpgradeAnswer> {
    const headers = {
      Authorization: `Bearer ${bearer}`,
      [VERSION_HEADER]: version,
      [TLS_HEADER]: tls,
      ...(api !== undefined && { [API_STATE_HEADER]: api }),
      ...(epoch !== undefined && { [EPOCH_HEADER]: String(epoch) }),
    };
    const request = { path: TUNNEL_PATH, protocol: TUNNEL_PROTOCOL, signal };
    if (this.#framed) return dialWebSocket({ ...request, hub: this.#hub, headers });
    const answer = await this.#upstream.upgrade({ ...request, headers: Object.entries(headers).flat() });
    return isUpgraded(answer) ? answer : { error: await errorOf(answer, "the hub"), headers: answer.headers };
  }

  #client(bearer: string): Client {
    const credential = { headers: ["Authorization", `Bearer ${bearer}`] };
    // A token is valid once, so a request that may have arrived is not retried.
    return new Client({ upstream: { ...this.#hub, credentials: { get: () => credential } }, retries: false });
  }
}

/** Clock difference from which the hub's clock replaces the local one, ms. */
const WRONG = 5_000;

/** Clock for proofs: the local one, adjusted to that of a hub if it is wrong. */
export class HubClock {
  readonly #own: () => Date;
  /** ms */
  #ahead = 0;

  constructor(own: () => Date = () => new Date()) {
    this.#own = own;
  }

  /** Current time of the hubs, as far as known. */
  get now(): Date {
    return new Date(this.#own().getTime() + this.#ahead);
  }

  /** Adjusts the clock to a hub's response. @returns whether it changed */
  adjust(headers: ResponseHeaders): boolean {
    const said = Date.parse(header(headers, "date") ?? "");
    const wrong = said - this.now.getTime();
    if (Number.isNaN(said) || Math.abs(wrong) < WRONG) return false;
    this.#ahead += wrong;
    return true;
  }
}

/** Hubs for requests of an agent: those with tunnels, and the configured one. */
export class ReachedHubs {
  readonly configured: HubClient;
  readonly #reached = new Set<HubClient>();

  constructor(told: HubClient) {
    this.configured = told;
  }

  /** Adds a tunnel of a hub. */
  add(hub: HubClient): void {
    this.#reached.add(hub);
  }

  remove(hub: HubClient): void {
    this.#reached.delete(hub);
  }

  /** Returns the first successful response. @throws the last error, or the first rejection; the signal's reason */
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
