import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Answer, RequestLine } from "./answer.ts";
import { TransportError } from "./answer.ts";
import { anonymous, type Credentials, tlsOptions } from "./credentials.ts";
import { WatchStream } from "./watch-stream.ts";

export interface HttpClientOptions {
  /** Base URL to which paths are appended. */
  readonly url: string;
  readonly credentials: Credentials;
  /** Ends all requests and watches. */
  readonly signal: AbortSignal;
  /** Deadline for a complete answer, or for the headers of a watch, in ms. */
  readonly timeout: number;
  /** Maximum number of connections; further requests wait for one. @default unlimited */
  readonly maxSockets?: number;
}

/** Query parameters. Those that are `undefined` are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

export interface CallOptions {
  readonly method?: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body, sent with its length. */
  readonly body?: string | Buffer;
  /** Sends neither token nor client certificate. */
  readonly anonymous?: boolean;
  /** Token to use instead of the token and client certificate of the run. Several tokens become one `Authorization` line each. */
  readonly token?: string | readonly string[];
  /** Whether the request changes nothing, whatever its method, so that it is retried like a GET. @default false */
  readonly repeatable?: boolean;
  /** Whether the path starts at the server's root instead of the URL of the run. */
  readonly fromRoot?: boolean;
  /** Deadline in ms. @default the client's */
  readonly timeout?: number;
}

/** Maximum size of an answer, in bytes. */
const MAX_BODY = 256 * 2 ** 20;

/**
 * Small HTTP client based on Node.js, with a deadline on everything. It deliberately shares no code with the transport:
 *
 * - The suite checks servers that contain the transport: a fault in both would remain hidden.
 * - It sends requests that no other client may send: several `Authorization` lines, a caller without the credentials of the
 *   connection, headers that name another user, and names that are invalid as a path segment.
 * - Checks decide which users share connections and how many there are. They read watches line by line without read-ahead.
 */
export class HttpClient implements Disposable {
  readonly #options: HttpClientOptions;
  readonly #base: URL;
  readonly #agents: Readonly<Record<"known" | "unknown", HttpAgent>>;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#base = new URL(options.url);
    this.#agents = { known: this.#agent(options.credentials), unknown: this.#agent(anonymous(options.credentials)) };
  }

  /** Returns a complete answer of any status. @throws TransportError when it does not arrive in time */
  async call(path: string, options: CallOptions = {}): Promise<Answer> {
    const exchange = await this.#open(path, options);
    try {
      return await readAnswer(exchange);
    } finally {
      exchange.done();
    }
  }

  /** Returns an open watch for a 200, or else the complete answer. @throws TransportError when headers do not arrive in time */
  async watch(path: string, options: CallOptions = {}): Promise<WatchStream | Answer> {
    const exchange = await this.#open(path, options);
    const { line, request, response, sentAt } = exchange;
    try {
      if (response.statusCode !== 200) return await readAnswer(exchange);
    } finally {
      exchange.done();
    }
    return new WatchStream({ line, request, response, sentAt });
  }

  [Symbol.dispose](): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  /** Returns the request in readable form. */
  line(path: string, options: CallOptions): RequestLine {
    const { method = "GET", headers = {} } = options;
    return { method, url: this.#url(path, options).href, headers, anonymous: options.anonymous === true };
  }

  #url(path: string, { query = {}, fromRoot }: CallOptions): URL {
    const prefix = fromRoot === true ? "" : this.#base.pathname.replace(/\/+$/, "");
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
    const separator = path.includes("?") ? "&" : "?";
    return new URL(`${prefix}${path}${search.size === 0 ? "" : `${separator}${search}`}`, this.#base);
  }

  #agent(credentials: Credentials): HttpAgent {
    const { maxSockets = Number.POSITIVE_INFINITY } = this.#options;
    const pooling = { keepAlive: true, noDelay: true, maxSockets };
    return this.#base.protocol === "https:"
      ? new HttpsAgent({ ...pooling, ...tlsOptions(credentials) })
      : new HttpAgent(pooling);
  }

  async #open(path: string, options: CallOptions): Promise<Exchange> {
    const { signal, timeout } = this.#options;
    const line = this.line(path, options);
    const late = new AbortController();
    const wait = options.timeout ?? timeout;
    const timer = setTimeout(() => late.abort(new Error(`no answer within ${wait} ms`)), wait);
    const abort = AbortSignal.any([signal, late.signal]);
    const done = (): void => clearTimeout(timer);
    try {
      return { ...(await this.#send(line, options, abort)), line, signal: abort, done };
    } catch (error) {
      done();
      throw transportError(line, abort, error);
    }
  }

  /** Retries once when the server closed a kept-alive connection while the client reused it. */
  async #send(line: RequestLine, options: CallOptions, signal: AbortSignal): Promise<SentRequest> {
    try {
      return await this.#attempt(line, options, signal);
    } catch (error) {
      const repeatable = line.method === "GET" || options.repeatable === true;
      if (!(error instanceof ReusedSocketError) || !repeatable) throw error;
      return this.#attempt(line, options, signal);
    }
  }

  #attempt(line: RequestLine, options: CallOptions, signal: AbortSignal): Promise<SentRequest> {
    const send = this.#base.protocol === "https:" ? httpsRequest : httpRequest;
    const stranger = options.anonymous === true || options.token !== undefined;
    const token = stranger ? options.token : this.#options.credentials.token;
    const { body } = options;
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const headers = { accept: "application/json", ...line.headers, ...length, ...bearer(token) };
    const agent = this.#agents[stranger ? "unknown" : "known"];
    return new Promise((resolve, reject) => {
      const sentAt = performance.now();
      const request = send(line.url, { method: line.method, headers, agent, signal });
      request.once("response", (response: IncomingMessage) => resolve({ request, response, sentAt }));
      request.on("error", (error) => reject(request.reusedSocket ? new ReusedSocketError(error) : error));
      request.end(body);
    });
  }
}

interface SentRequest {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
  readonly sentAt: number;
}

interface Exchange extends SentRequest {
  readonly line: RequestLine;
  readonly signal: AbortSignal;
  /** Stops the timer of the deadline. */
  readonly done: () => void;
}

class ReusedSocketError extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** Node sends an array as one header line for each element. */
function bearer(token: CallOptions["token"]): Readonly<Record<string, string | string[]>> {
  if (token === undefined) return {};
  return { authorization: typeof token === "string" ? `Bearer ${token}` : token.map((one) => `Bearer ${one}`) };
}

async function readAnswer({ line, request, response, signal }: Exchange): Promise<Answer> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > MAX_BODY) throw new Error(`the answer is longer than ${MAX_BODY} bytes`);
      pieces.push(piece);
    }
  } catch (error) {
    request.destroy();
    throw transportError(line, signal, error);
  }
  return { request: line, status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) };
}

/** Names the cause: the deadline, the end of the run, or the socket's error. */
function transportError(line: RequestLine, signal: AbortSignal, error: unknown): TransportError {
  return new TransportError(line, signal.aborted ? signal.reason : error);
}
