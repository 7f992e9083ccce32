import type { Credential, Credentials } from "./credentials.ts";
import { type Deadlines, defaultDeadlines } from "./deadlines.ts";
import { StreamedExchange, WholeExchange } from "./exchange.ts";
import { onTheWire } from "./headers.ts";
import type { Outgoing } from "./outgoing.ts";
import { Pools } from "./pools.ts";
import type { StreamedResponse, WholeResponse } from "./response.ts";
import type { Dial, UpstreamTls } from "./tls.ts";
import { TransportError } from "./transport-error.ts";

/** Where another server is, and how it is talked to. */
export interface UpstreamOptions {
  /** Where its paths begin: `https://host:6443/services/quotes`. No user, password, query or fragment. */
  readonly url: string;
  readonly tls?: UpstreamTls;
  /** @default none: the other server takes us for whoever it takes anybody */
  readonly credentials?: Credentials;
  /** For requests that say nothing else. @default {@link defaultDeadlines} */
  readonly deadlines?: Partial<Deadlines>;
  /** How many short requests may be under way at once; the others wait. @default 256 */
  readonly connections?: number;
  /** What requests say they come from. @default "virtual-workspaces" */
  readonly userAgent?: string;
  readonly dial?: Dial;
}

/** What an {@link Upstream} is doing. */
export interface UpstreamStats {
  /** Open connections. */
  readonly connections: number;
  /** Requests that were sent, since the beginning. */
  readonly requests: number;
}

/** The longest body that is read whole, bytes. */
const LONGEST = 64 * 1024 * 1024;

/**
 * Another HTTP server: connections that are kept, who we are to it, deadlines on everything. Follows no redirect, since it
 * would carry credentials elsewhere. Immutable but for its connections: what belongs to one request goes with it, so that
 * any number of callers can share one.
 */
export class Upstream implements AsyncDisposable {
  /** As it was given, without a slash at its end. */
  readonly url: string;
  readonly #prefix: string;
  readonly #origin: string;
  readonly #credentials: Credentials | undefined;
  readonly #deadlines: Deadlines;
  readonly #userAgent: string;
  readonly #pools: Pools;
  #requests = 0;
  #closed = false;

  /** @throws Error on a URL that cannot be used */
  constructor(options: UpstreamOptions) {
    const url = parsed(options.url);
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, "");
    this.url = `${url.origin}${this.#prefix}`;
    this.#credentials = options.credentials;
    this.#deadlines = { ...defaultDeadlines, ...options.deadlines };
    this.#userAgent = options.userAgent ?? "virtual-workspaces";
    this.#pools = new Pools({
      origin: url.origin,
      tls: options.tls ?? {},
      connect: this.#deadlines.connect,
      connections: options.connections ?? 256,
      dial: options.dial,
    });
  }

  get stats(): UpstreamStats {
    return { connections: this.#pools.open, requests: this.#requests };
  }

  /** Sends a request and reads the whole answer, whatever its status. @throws TransportError when there is none; the signal's reason */
  send(request: Outgoing): Promise<WholeResponse> {
    return this.#authenticated(request, (credential) => {
      const exchange = new WholeExchange({ ...this.#terms(request), limit: request.limit ?? LONGEST });
      this.#dispatch(request, credential, exchange);
      return exchange.answer;
    });
  }

  /** Sends a request; resolves with the head of the answer, whose body is read piece by piece. @throws as {@link send} */
  stream(request: Outgoing): Promise<StreamedResponse> {
    return this.#authenticated(request, (credential) => {
      const exchange = new StreamedExchange(this.#terms(request));
      this.#dispatch(request, credential, exchange);
      return exchange.answer;
    });
  }

  /** Ends all connections, and what is under way on them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#pools.destroy(new TransportError("closed", `${this.#origin}: closed`, { delivered: true }));
  }

  async #authenticated<R extends { readonly status: number }>(
    { signal }: Outgoing,
    ask: (credential: Credential) => Promise<R>,
  ): Promise<R> {
    signal?.throwIfAborted();
    const credentials = this.#credentials;
    if (credentials === undefined) return ask(NOBODY);
    const credential = await credentials.get();
    signal?.throwIfAborted();
    const answer = await ask(credential);
    if (answer.status !== 401 || credentials.refused === undefined) return answer;
    credentials.refused(credential);
    const renewed = await credentials.get();
    if (renewed === credential) return answer;
    if (Symbol.asyncDispose in answer) await (answer as unknown as AsyncDisposable)[Symbol.asyncDispose]();
    signal?.throwIfAborted();
    return ask(renewed);
  }

  #terms({ method = "GET", path, deadlines, signal }: Outgoing): ConstructorParameters<typeof StreamedExchange>[0] {
    const at = path.indexOf("?");
    const what = `${method} ${this.url}${at === -1 ? path : path.slice(0, at)}`;
    return { what, head: deadlines?.head ?? this.#deadlines.head, signal };
  }

  #dispatch(request: Outgoing, credential: Credential, handler: WholeExchange | StreamedExchange): void {
    if (this.#closed) throw new TransportError("closed", `${this.#origin}: closed`, { delivered: false });
    const { method = "GET", path, headers = [], body, deadlines, long = false } = request;
    const idle = deadlines?.idle ?? this.#deadlines.idle;
    this.#requests += 1;
    this.#pools.of(credential)[long ? "long" : "short"].dispatch(
      {
        method,
        path: this.#prefix + path,
        headers: onTheWire(["User-Agent", this.#userAgent, ...headers, ...(credential.headers ?? [])]),
        body: body ?? null,
        bodyTimeout: Number.isFinite(idle) ? idle : 0,
      },
      handler,
    );
  }
}

const NOBODY: Credential = Object.freeze({});

function parsed(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new Error("url of an upstream: give it an http or https URL");
  if (url.username !== "" || url.password !== "")
    throw new Error("url of an upstream: credentials do not belong in it");
  if (url.search !== "" || url.hash !== "") throw new Error("url of an upstream: leave out its query and fragment");
  return url;
}
