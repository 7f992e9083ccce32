import type { Dispatcher } from "undici";
import type { Credential, Credentials } from "./calls/authentication.ts";
import { Authentication } from "./calls/authentication.ts";
import { Call, whatOf } from "./calls/call.ts";
import { LateCalls } from "./calls/late-calls.ts";
import { Connections, type Lease } from "./connections/connections.ts";
import { authoritiesIn, type Dial, type UpstreamTls } from "./connections/connector.ts";
import {
  type Exchange,
  type ExchangeOptions,
  type Failed,
  StreamedExchange,
  UpgradeExchange,
  WholeExchange,
} from "./connections/exchange.ts";
import { isNamed, onTheWire } from "./http/headers.ts";
import type { InProcessServer } from "./http/in-process.ts";
import {
  checkOutgoing,
  type Deadlines,
  defaultDeadlines,
  isStreamed,
  type Outgoing,
  type OutgoingUpgrade,
  resolvedDeadlines,
  type StreamedResponse,
  type UpgradedResponse,
  type WholeResponse,
} from "./http/messages.ts";
import { isTransportError, TransportError, type TransportErrorCode } from "./transport-error.ts";

/** Options of an {@link Upstream}: its address, and how to communicate with it. */
export interface UpstreamOptions {
  /** Base URL: `https://host:6443/services/quotes`. No user, password, query or fragment. */
  readonly url: string;
  readonly tls?: UpstreamTls;
  /** @default none: requests are anonymous */
  readonly credentials?: Credentials;
  /** Deadlines of requests without their own. @default {@link defaultDeadlines} */
  readonly deadlines?: Partial<Deadlines>;
  /** Maximum number of concurrent short requests; further ones wait, in order, within their deadlines. @default 256 */
  readonly connections?: number;
  /** User-Agent of requests that do not set one. @default "virtual-workspaces" */
  readonly userAgent?: string;
  readonly dial?: Dial;
  /** Server of the same process, which gets all requests except upgrades as objects. Those use {@link dial}. @default none */
  readonly inProcess?: InProcessServer;
}

/** Maximum size of a body that is read whole, in bytes. */
const LONGEST = 64 * 1024 * 1024;

/**
 * Another HTTP server, with persistent connections, credentials and deadlines. Security: it follows no redirects, which would
 * send credentials elsewhere. Immutable except for its connections: the state of a request stays with the request, so any
 * number of callers can share an upstream.
 *
 * It retries a request in two cases. On a new connection, if a reused one ended before any response, and the request is a GET
 * or HEAD, or was not sent. And with another credential, if the first was rejected.
 */
export class Upstream implements AsyncDisposable {
  /** URL from the options, without a trailing slash. */
  readonly url: string;
  /** Whether a server of this process gets the requests. */
  readonly isInProcess: boolean;
  readonly #prefix: string;
  readonly #authentication: Authentication;
  readonly #deadlines: Deadlines;
  readonly #userAgent: string;
  readonly #connections: Connections;
  readonly #calls = new Set<Call>();
  /** Encoded header lines of frozen arrays. */
  readonly #known = new WeakMap<readonly string[], readonly string[]>();
  #resolved: { readonly of: object; readonly deadlines: Deadlines } | undefined;
  readonly #counts = new Counts();
  readonly #late = new LateCalls();
  /** Called when no request is pending. */
  #idle: (() => void) | undefined;
  #closed = false;

  /** @throws Error for an invalid URL, authority, deadline or number of connections */
  constructor(options: UpstreamOptions) {
    const url = parsed(options.url);
    const { tls = {}, connections = 256, userAgent = "virtual-workspaces", dial, inProcess } = options;
    if (!(connections >= 1)) throw new Error("invalid connections of an upstream: use at least 1");
    if (tls.ca !== undefined) authoritiesIn(tls.ca);
    this.#prefix = url.pathname.replace(/\/+$/, "");
    this.url = `${url.origin}${this.#prefix}`;
    this.#authentication = new Authentication(options.credentials);
    this.#deadlines = resolvedDeadlines(options.deadlines, defaultDeadlines);
    [, this.#userAgent = ""] = onTheWire(["User-Agent", userAgent]);
    this.isInProcess = inProcess !== undefined;
    this.#connections = new Connections({
      url,
      tls,
      deadline: this.#deadlines.connect,
      limit: connections,
      dial,
      inProcess,
    });
  }

  /** Present counters and gauges. */
  get stats(): UpstreamStats {
    const { requests, retries, failures } = this.#counts;
    const { open, pending } = this.#connections;
    return { connections: open, active: this.#calls.size, pending, requests, retries, failures: { ...failures } };
  }

  /**
   * Sends a request and reads the whole response, whatever its status.
   * @throws TransportError without a response; the signal's reason; Error for an invalid request; errors of the credentials
   */
  send(request: Outgoing): Promise<WholeResponse> {
    const { limit = LONGEST } = request;
    return this.#call(request, (options) => new WholeExchange({ ...options, limit }));
  }

  /** Sends a request; resolves with the head of the response, whose body is streamed. @throws as {@link send} */
  stream(request: Outgoing): Promise<StreamedResponse> {
    return this.#call(request, (options) => new StreamedExchange(options));
  }

  /**
   * Asks to switch the connection to another protocol. Resolves with the connection, or with the upstream's other response,
   * as {@link stream} does; `isUpgraded` distinguishes them.
   *
   * @throws as {@link send}
   */
  upgrade({ protocol, ...request }: OutgoingUpgrade): Promise<StreamedResponse | UpgradedResponse> {
    if (!/^[!-~]+(?: *, *[!-~]+)*$/.test(protocol)) throw new Error("invalid protocol: use that of an Upgrade header");
    const make = (options: ExchangeOptions): Exchange<StreamedResponse> => new UpgradeExchange(options);
    return this.#call({ ...request, long: true, protocol }, make);
  }

  /** Waits for pending requests, and then closes all connections. New requests fail as `closed`. */
  async drain(): Promise<void> {
    this.#closed = true;
    if (this.#calls.size > 0)
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    await this[Symbol.asyncDispose]();
  }

  /** Closes all connections, and fails their pending requests. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const call of [...this.#calls]) call.end(call.failure("closed", "the upstream was closed"));
    await this.#connections.destroy();
    this.#late[Symbol.dispose]();
  }

  async #call<R extends Head>(request: Sent, make: Make<R>): Promise<R> {
    checkOutgoing(request);
    const { method = "GET", path, headers = [], signal, cancellation } = request;
    const own = this.#lines(headers);
    const { head, idle } = this.#deadlinesOf(request);
    signal?.throwIfAborted();
    if (cancellation?.cancelled === true) throw cancellation.reason;
    const { url } = this;
    if (this.#closed) {
      const text = `${whatOf({ method, url, path })}: the upstream was closed`;
      throw new TransportError("closed", text, { delivered: false });
    }
    this.#counts.requests += 1;
    const call = new Call({ method, url, path, head, signal, cancellation, late: this.#late, over: this.#over });
    this.#calls.add(call);
    try {
      const given = this.#authentication.credential(call);
      const credential = given instanceof Promise ? await given : given;
      const attempt = { request, own, idle, call, make, credential };
      const first = await this.#tried(attempt, false);
      const isRefused = first.status === 401 && !isStreamed(request.body);
      const answer = isRefused ? await this.#renewed(attempt, first) : first;
      call.accept();
      return answer;
    } catch (error) {
      call.fail(error);
      throw error;
    }
  }

  /** Callers often pass the same object each time. */
  #deadlinesOf({ deadlines }: Sent): Deadlines {
    if (deadlines === undefined || !Object.isFrozen(deadlines)) return resolvedDeadlines(deadlines, this.#deadlines);
    if (this.#resolved?.of !== deadlines)
      this.#resolved = { of: deadlines, deadlines: resolvedDeadlines(deadlines, this.#deadlines) };
    return this.#resolved.deadlines;
  }

  /** Encodes header lines. A frozen array is checked once. */
  #lines(headers: readonly string[]): readonly string[] {
    const known = this.#known.get(headers);
    if (known !== undefined) return known;
    const lines = onTheWire(headers);
    if (!isNamed(headers, "user-agent")) lines.unshift("User-Agent", this.#userAgent);
    if (Object.isFrozen(headers)) this.#known.set(headers, Object.freeze(lines));
    return lines;
  }

  readonly #over = (call: Call, failed: { readonly error: unknown } | undefined): void => {
    this.#calls.delete(call);
    if (this.#calls.size === 0) this.#idle?.();
    if (failed !== undefined) this.#counts.failed(failed.error);
  };

  /** Sends a rejected request once more, if there is another credential. */
  async #renewed<R extends Head>(attempt: Attempt<R>, answer: R): Promise<R> {
    const { call } = attempt;
    call.waits();
    const end = async (): Promise<void> => answer[Symbol.asyncDispose]?.();
    const credential = await this.#authentication.renewed(attempt.credential, call).catch(async (error: unknown) => {
      await end();
      throw error;
    });
    if (credential === undefined) return answer;
    await end();
    this.#counts.retries += 1;
    call.again();
    return this.#tried({ ...attempt, credential }, false);
  }

  /** @param fresh whether it needs a new connection */
  #tried<R extends Head>(attempt: Attempt<R>, fresh: boolean): Promise<R> {
    const { request, credential, call } = attempt;
    const { long = false, protocol } = request;
    const taken = this.#connections.take({ credential, long, fresh, upgrades: protocol !== undefined, call });
    return taken instanceof Promise
      ? taken.then((lease) => this.#begun(attempt, lease, fresh))
      : this.#begun(attempt, taken, fresh);
  }

  #begun<R extends Head>(attempt: Attempt<R>, lease: Lease, fresh: boolean): Promise<R> {
    const { request, own, idle, call, make, credential } = attempt;
    const { method = "GET", path, body = null, length, protocol } = request;
    const retry = (failed: Failed): Promise<R> | undefined =>
      fresh || !lease.used || !isStale(failed, method) ? undefined : this.#again(attempt);
    const said = this.#authentication.headers(own, credential);
    // The cast is safe: undici only reads them.
    const headers = (length === undefined ? said : [...said, "Content-Length", String(length)]) as string[];
    const exchange = make({ call, lease, idle, retry });
    // By default, undici closes the connection of a DELETE with a body.
    const reset = method === "HEAD" ? null : false;
    const sent = {
      method,
      path: this.#prefix + path,
      headers,
      body: body as SentBody,
      reset,
      upgrade: protocol ?? null,
    };
    exchange.start(sent as Dispatcher.DispatchOptions);
    return exchange.answer;
  }

  async #again<R extends Head>(attempt: Attempt<R>): Promise<R> {
    this.#counts.retries += 1;
    attempt.call.again();
    return this.#tried(attempt, true);
  }
}

/** Parts of a response that are checked before its caller gets it. */
interface Head extends Partial<AsyncDisposable> {
  readonly status: number;
}

type Make<R> = (options: ExchangeOptions) => Exchange<R>;

/** The types of undici omit iterables, which it accepts. */
type SentBody = string | Buffer | null;

type Sent = Outgoing & Partial<Pick<OutgoingUpgrade, "protocol">>;

interface Attempt<R> {
  readonly request: Sent;
  readonly own: readonly string[];
  readonly idle: number;
  readonly call: Call;
  readonly make: Make<R>;
  readonly credential: Credential;
}

/** Whether a reused connection had ended, so that the request can be retried. */
function isStale({ begun, delivered, error }: Failed, method: string): boolean {
  if (!isTransportError(error) || begun) return false;
  if (!delivered) return error.code === "connect";
  return error.code === "reset" && (method === "GET" || method === "HEAD");
}

function parsed(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new Error("invalid url of an upstream: use an http or https URL");
  if (url.username !== "" || url.password !== "") throw new Error("invalid url of an upstream: remove the credentials");
  if (url.search !== "" || url.hash !== "") throw new Error("invalid url of an upstream: remove query and fragment");
  return url;
}

/** Gauges and counters of an {@link Upstream}; counters since its creation. */
export interface UpstreamStats {
  /** Open connections, including idle ones. */
  readonly connections: number;
  /** Requests without a complete response. */
  readonly active: number;
  /** Requests among these that wait for a connection. */
  readonly pending: number;
  /** Requests so far; retries do not count again. */
  readonly requests: number;
  /** Retries so far: on another connection, or with another credential. */
  readonly retries: number;
  /** Failed requests so far, by error code; those that their callers aborted do not count. */
  readonly failures: Readonly<Record<TransportErrorCode, number>>;
}

/** Counters of an upstream. */
class Counts {
  requests = 0;
  retries = 0;
  readonly failures: Record<TransportErrorCode, number> = {
    connect: 0,
    tls: 0,
    timeout: 0,
    reset: 0,
    malformed: 0,
    tooLarge: 0,
    closed: 0,
  };

  failed(error: unknown): void {
    if (isTransportError(error)) this.failures[error.code] += 1;
  }
}
