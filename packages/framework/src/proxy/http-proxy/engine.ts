import { EventEmitter } from "node:events";
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  hostOf,
  type Outgoing,
  type OutgoingUpgrade,
  type StreamedResponse,
  trusted,
  type UpgradedResponse,
  type UpstreamOptions,
} from "@virtual-workspaces/transport";
import httpProxy from "http-proxy";
import { pipe as connection } from "../../listener/pipe.ts";
import type { ProxyEngine } from "../proxy-options.ts";
import { Sending } from "./sending.ts";

/** Options of {@link httpProxyEngine}. */
export interface HttpProxyOptions extends Pick<UpstreamOptions, "url" | "tls" | "connections"> {
  /**
   * Headers that authenticate this server upstream, flat pairs, in place of others of their names: `["Authorization", "Bearer
   * …"]`.
   * @default none
   */
  readonly credentials?: readonly string[];
  /** Client certificate and its key, PEM. @default none */
  readonly cert?: string;
  readonly key?: string;
}

/** Largest head of a response, bytes: Go's limit. Node's own is 16 KiB. */
const LARGEST_HEAD = 1024 * 1024;
/** Same as in the transport. */
const CONNECTIONS = 256;
const KEPT = 30_000;

/**
 * Engine over the package `http-proxy`, for users who require it. It corrects faults that would lose or mix up data: repeated
 * headers stay apart, paths keep their bytes, a client that leaves also leaves the upstream, and an incomplete response
 * fails. The guide on proxying lists what it lacks: SPDY, half-closed upgrades, retries on kept connections, tunnels.
 */
export class HttpProxyEngine implements ProxyEngine, AsyncDisposable {
  readonly url: string;
  readonly #credentials: readonly string[];
  readonly #prefix: string;
  readonly #proxy: ReturnType<typeof httpProxy.createProxyServer>;
  readonly #agents: { readonly short: HttpAgent; readonly long: HttpAgent };

  /** @throws Error on an invalid URL or authority */
  constructor({ url, tls = {}, connections = CONNECTIONS, credentials = [], cert, key }: HttpProxyOptions) {
    const target = new URL(url);
    if (!/^https?:$/.test(target.protocol)) throw new Error("invalid url of an engine: use an http or https URL");
    const { ca, serverName, insecureSkipVerify = false } = tls;
    const secured = {
      ...trusted(ca),
      ...(cert !== undefined && { cert, key }),
      ...(serverName !== undefined && { servername: serverName }),
      rejectUnauthorized: !insecureSkipVerify,
    };
    const kept = { keepAlive: true, timeout: KEPT };
    const agent = (maxSockets: number): HttpAgent =>
      target.protocol === "https:"
        ? new HttpsAgent({ ...kept, ...secured, maxSockets })
        : new HttpAgent({ ...kept, maxSockets });
    this.#agents = { short: agent(connections), long: agent(Number.POSITIVE_INFINITY) };
    this.#prefix = target.pathname.replace(/\/+$/, "");
    this.url = `${target.origin}${this.#prefix}`;
    this.#credentials = credentials;
    const { protocol, port } = target;
    const host = hostOf(target);
    this.#proxy = httpProxy.createProxyServer({
      target: { protocol, host, hostname: host, port },
      selfHandleResponse: true,
      toProxy: true,
      secure: !insecureSkipVerify,
    });
  }

  async stream(request: Outgoing): Promise<StreamedResponse> {
    const { method = "GET", long = false, signal } = request;
    signal?.throwIfAborted();
    const sending = this.#sending(request);
    const options = {
      ...this.#optionsOf(long),
      buffer: { pipe: (out: ClientRequest) => sending.pipe(out) } as never,
    };
    this.#proxy.web(asked(method), ANSWERLESS, options, (error) => sending.fail(error));
    return (await sending.answer) as StreamedResponse;
  }

  async upgrade(request: OutgoingUpgrade): Promise<StreamedResponse | UpgradedResponse> {
    const { method = "GET", protocol, signal } = request;
    signal?.throwIfAborted();
    // `http-proxy` would close the connection without a response.
    if (method !== "GET" || protocol.toLowerCase() !== "websocket")
      throw ApiError.badRequest(
        `cannot forward an upgrade to ${protocol} by ${method} to the server behind this view: use a client that speaks WebSocket, by GET`,
      );
    const sending = this.#sending(request);
    this.#proxy.once("proxyReqWs", (out) => {
      sending.mend(out);
      // Runs after the code that now handles the request.
      queueMicrotask(() => {
        // After a rejected upgrade, the protocol state of the upstream connection is unknown.
        out.shouldKeepAlive = false;
        sending.listen(out);
      });
    });
    const req = asked(method, { connection: "Upgrade", upgrade: protocol });
    this.#proxy.ws(req, nobody(), Buffer.alloc(0), this.#optionsOf(true), (error) => sending.fail(error));
    return sending.answer;
  }

  /** Ends all connections, and requests under way on them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#agents.short.destroy();
    this.#agents.long.destroy();
  }

  #sending(request: Outgoing): Sending {
    const { headers = [] } = request;
    const ours = new Set(this.#credentials.flatMap((text, at) => (at % 2 === 0 ? [text.toLowerCase()] : [])));
    const kept = headers.filter((_text, at) => !ours.has((headers[at - (at % 2)] as string).toLowerCase()));
    const said = { ...request, headers: [...kept, ...this.#credentials] };
    return new Sending(said, { url: this.url, prefix: this.#prefix });
  }

  #optionsOf(long: boolean) {
    // `http-proxy` writes into the object it gets as `ssl`, and starts every request from that.
    return { agent: long ? this.#agents.long : this.#agents.short, ssl: { maxHeaderSize: LARGEST_HEAD } };
  }
}

/** Creates an engine over the package `http-proxy`. @throws Error on an invalid URL */
export function httpProxyEngine(options: HttpProxyOptions): HttpProxyEngine {
  return new HttpProxyEngine(options);
}

/** Makes the parts of a client request that `http-proxy` reads; the real headers are set elsewhere. */
function asked(method: string, headers: Record<string, string> = {}): IncomingMessage {
  const looks = { method, url: "/", headers, socket: { destroyed: false } };
  return Object.assign(new EventEmitter(), looks) as unknown as IncomingMessage;
}

/** The parts of a response that `http-proxy` reads; this engine handles responses itself. */
const ANSWERLESS = Object.freeze({ finished: false, headersSent: false }) as unknown as ServerResponse;

/** Makes a dummy client socket of an upgrade, for `http-proxy` to write to. */
function nobody(): Socket {
  return connection()[0] as Socket;
}
