import type { Credential, Credentials } from "./calls/authentication.ts";
import { Authentication } from "./calls/authentication.ts";
import { Call } from "./calls/call.ts";
import { Connections } from "./connections/connections.ts";
import type { Dial, UpstreamTls } from "./connections/connector.ts";
import {
  type Exchange,
  type ExchangeOptions,
  StreamedExchange,
  UpgradeExchange,
  WholeExchange,
} from "./connections/exchange.ts";
import { onTheWire } from "./http/headers.ts";
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

/** Where another server is, and how it is talked to. */
export interface UpstreamOptions {
  /** Where its paths begin: `https://host:6443/services/quotes`. No user, password, query or fragment. */
  readonly url: string;
  readonly tls?: UpstreamTls;
  /** @default none: the other server takes us for whoever it takes anybody */
  readonly credentials?: Credentials;
  /** For requests that say nothing else. @default {@link defaultDeadlines} */
  readonly deadlines?: Partial<Deadlines>;
  /** How many short requests may be under way at once; the others wait, in order, within their deadlines. @default 256 */
  readonly connections?: number;
  /** What requests say they come from, unless they say something else. @default "virtual-workspaces" */
  readonly userAgent?: string;
  readonly dial?: Dial;
}

/** The longest body that is read whole, bytes. */
const LONGEST = 64 * 1024 * 1024;

/**
 * Another HTTP server: connections that are kept, who we are to it, deadlines on everything. Follows no redirect, since it
 * would carry credentials elsewhere. Immutable but for its connections: what belongs to one request goes with it, so that
 * any number of callers can share one.
 *
 * A request is sent a second time, on a new connection, only when one that was kept ended before anything of an answer came,
 * and it is a GET or HEAD, or was not sent at all; and when a credential was refused for which there is another.
 */
export class Upstream implements AsyncDisposable {
  /** As it was given, without a slash at its end. */
  readonly url: string;
  readonly #prefix: string;
  readonly #authentication: Authentication;
  readonly #deadlines: Deadlines;
  readonly #userAgent: string;
  readonly #connections: Connections;
  readonly #calls = new Set<Call>();
  /** The lines of requests whose headers were frozen. */
  readonly #known = new WeakMap<readonly string[], readonly string[]>();
  #resolved: { readonly of: object; readonly deadlines: Deadlines } | undefined;
  readonly #counts = new Counts();
  /** Told when nothing is under way any more. */
  #idle: (() => void) | undefined;
  #closed = false;

  /** @throws Error on a URL, authorities, deadlines or a number of connections that cannot be used */
  constructor(options: UpstreamOptions) {
    const url = parsed(options.url);
    const { tls = {}, connections = 256, userAgent = "virtual-workspaces", dial } = options;
    if (!(connections >= 1)) throw new Error("connections of an upstream: give at least 1");
    if (tls.ca !== undefined && !tls.ca.includes("-----BEGIN CERTIFICATE-----"))
      throw new Error("tls.ca of an upstream: give certificates as PEM");
    this.#prefix = url.pathname.replace(/\/+$/, "");
    this.url = `${url.origin}${this.#prefix}`;
    this.#authentication = new Authentication(options.credentials);
    this.#deadlines = resolvedDeadlines(options.deadlines, defaultDeadlines);
    [, this.#userAgent = ""] = onTheWire(["User-Agent", userAgent]);
    this.#connections = new Connections({ url, tls, deadline: this.#deadlines.connect, limit: connections, dial });
  }

  /** As they are now. */
  get stats(): UpstreamStats {
    const { requests, retries, failures } = this.#counts;
    const { open, pending } = this.#connections;
    return { connections: open, active: this.#calls.size, pending, requests, retries, failures: { ...failures } };
  }

  /** Sends a request and reads the whole answer, whatever its status. @throws TransportError when there is none; the signal's reason; Error on a request that cannot be sent; what the credentials throw */
  send(request: Outgoing): Promise<WholeResponse> {
    const { limit = LONGEST } = request;
    return this.#call(request, (options) => new WholeExchange({ ...options, limit }));
  }

  /** Sends a request; resolves with the head of the answer, whose body is read piece by piece. @throws as {@link send} */
  stream(request: Outgoing): Promise<StreamedResponse> {
    return this.#call(request, (options) => new StreamedExchange(options));
  }

  /**
   * Asks to speak another protocol on the connection. Resolves with that, or with what the other server says instead, which
   * is read as of {@link stream}; `isUpgraded` tells which.
   *
   * @throws as {@link send}
   */
  upgrade({ protocol, ...request }: OutgoingUpgrade): Promise<StreamedResponse | UpgradedResponse> {
    if (!/^[!-~]+(?: *, *[!-~]+)*$/.test(protocol)) throw new Error("protocol: give what an Upgrade header says");
    const make = (options: ExchangeOptions): Exchange<StreamedResponse> => new UpgradeExchange(options);
    return this.#call({ ...request, long: true, protocol }, make);
  }

  /** Lets what is under way come to its end, and then ends all connections. What is asked from now on fails as `closed`. */
  async drain(): Promise<void> {
    this.#closed = true;
    if (this.#calls.size > 0)
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    await this[Symbol.asyncDispose]();
  }

  /** Ends all connections, and what is under way on them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const call of [...this.#calls]) call.end(call.failure("closed", "the upstream was closed"));
    await this.#connections.destroy();
  }

  async #call<R extends Head>(request: Sent, make: Make<R>): Promise<R> {
    checkOutgoing(request);
    const { method = "GET", path, headers = [], signal } = request;
    const own = this.#lines(headers);
    const { head, idle } = this.#deadlinesOf(request);
    signal?.throwIfAborted();
    const what = (): string => `${method} ${this.url}${path.split("?", 1)[0]}`;
    if (this.#closed) throw new TransportError("closed", `${what()}: the upstream was closed`, { delivered: false });
    this.#counts.requests += 1;
    const call = new Call({ what, head, signal, over: this.#over });
    this.#calls.add(call);
    try {
      const answer = await this.#authenticated({ request, own, idle, call, make });
      call.accept();
      return answer;
    } catch (error) {
      call.fail(error);
      throw error;
    }
  }

  /** Those who ask often say the same each time. */
  #deadlinesOf({ deadlines }: Sent): Deadlines {
    if (deadlines === undefined || !Object.isFrozen(deadlines)) return resolvedDeadlines(deadlines, this.#deadlines);
    if (this.#resolved?.of !== deadlines)
      this.#resolved = { of: deadlines, deadlines: resolvedDeadlines(deadlines, this.#deadlines) };
    return this.#resolved.deadlines;
  }

  /** As they are sent. An array that is frozen is looked through once. */
  #lines(headers: readonly string[]): readonly string[] {
    const known = this.#known.get(headers);
    if (known !== undefined) return known;
    const named = headers.some((name, at) => at % 2 === 0 && name.length === 10 && name.toLowerCase() === "user-agent");
    const lines = onTheWire(headers);
    if (!named) lines.unshift("User-Agent", this.#userAgent);
    if (Object.isFrozen(headers)) this.#known.set(headers, lines);
    return lines;
  }

  readonly #over = (call: Call, failed: { readonly error: unknown } | undefined): void => {
    this.#calls.delete(call);
    if (this.#calls.size === 0) this.#idle?.();
    if (failed !== undefined) this.#counts.failed(failed.error);
  };

  async #authenticated<R extends Head>(attempt: Attempt<R>): Promise<R> {
    const { call } = attempt;
    const given = this.#authentication.credential(call);
    const credential = given instanceof Promise ? await given : given;
    const answer = await this.#tried(attempt, credential);
    if (answer.status !== 401 || isStreamed(attempt.request.body)) return answer;
    call.waits();
    const end = async (): Promise<void> => answer[Symbol.asyncDispose]?.();
    const renewed = await this.#authentication.renewed(credential, call).catch(async (error: unknown) => {
      await end();
      throw error;
    });
    if (renewed === undefined) return answer;
    await end();
    this.#counts.retries += 1;
    call.again();
    return this.#tried(attempt, renewed);
  }

  async #tried<R extends Head>(attempt: Attempt<R>, credential: Credential): Promise<R> {
    const { request, own, idle, call, make } = attempt;
    const { method = "GET", path, body = null, length, long = false, protocol } = request;
    const said = this.#authentication.headers(own, credential);
    // Undici only reads them.
    const headers = (length === undefined ? said : [...said, "Content-Length", String(length)]) as string[];
    for (let fresh = false; ; fresh = true) {
      const taken = this.#connections.take({ credential, long, fresh, call });
      const lease = taken instanceof Promise ? await taken : taken;
      const exchange = make({ call, lease, idle });
      // Undici gives up the connection of a DELETE with a body, unless told not to.
      const reset = method === "HEAD" ? {} : { reset: false };
      const upgrade = protocol === undefined ? {} : { upgrade: protocol };
      exchange.start({ method, path: this.#prefix + path, headers, body: body as SentBody, ...reset, ...upgrade });
      try {
        return await exchange.answer;
      } catch (error) {
        if (fresh || !lease.used || !isStale(exchange, { error, method })) throw error;
        this.#counts.retries += 1;
        call.again();
      }
    }
  }
}

/** What is looked at of an answer before its caller gets it. */
interface Head extends Partial<AsyncDisposable> {
  readonly status: number;
}

type Make<R> = (options: ExchangeOptions) => Exchange<R>;

/** Undici takes what can be iterated as well, and does not say so. */
type SentBody = string | Buffer | null;

type Sent = Outgoing & Partial<Pick<OutgoingUpgrade, "protocol">>;

interface Attempt<R> {
  readonly request: Sent;
  readonly own: readonly string[];
  readonly idle: number;
  readonly call: Call;
  readonly make: Make<R>;
}

/** Whether a connection that was kept had ended, so that another can be tried. */
function isStale(
  { begun, delivered }: Pick<Exchange<unknown>, "begun" | "delivered">,
  { error, method }: { readonly error: unknown; readonly method: string },
): boolean {
  if (!isTransportError(error) || begun) return false;
  if (!delivered) return error.code === "connect";
  return error.code === "reset" && (method === "GET" || method === "HEAD");
}

function parsed(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new Error("url of an upstream: give it an http or https URL");
  if (url.username !== "" || url.password !== "")
    throw new Error("url of an upstream: credentials do not belong in it");
  if (url.search !== "" || url.hash !== "") throw new Error("url of an upstream: leave out its query and fragment");
  return url;
}

/** What an {@link Upstream} is doing and has done: gauges, and counters since the beginning. */
export interface UpstreamStats {
  /** Open connections, those that are kept for the next request among them. */
  readonly connections: number;
  /** Requests whose answers have not come to their end. */
  readonly active: number;
  /** Of these, those that wait for a connection. */
  readonly pending: number;
  /** Requests since the beginning. Second tries do not count again. */
  readonly requests: number;
  /** Second tries since the beginning: on another connection, or with another credential. */
  readonly retries: number;
  /** Requests that failed since the beginning, by the code of their error; those that their callers ended are not among them. */
  readonly failures: Readonly<Record<TransportErrorCode, number>>;
}

/** The counters. */
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
