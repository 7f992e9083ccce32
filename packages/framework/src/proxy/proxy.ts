import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { isUpgraded, type Outgoing, type StreamedResponse, Upstream } from "@virtual-workspaces/transport";
import type { RawRequest } from "../request/raw-request.ts";
import { HOPS_HEADER, requestInfo } from "../request/request-info.ts";
import type { ForwardingHandlers } from "../resource/served.ts";
import { causeOfFault, upstreamFailure, upstreamFault } from "./failure.ts";
import { FailureStreaks } from "./failure-streaks.ts";
import type { ProxyEngine, ProxyOptions } from "./proxy-options.ts";
import { RequestBody } from "./request-body.ts";
import { passedHeaders } from "./request-headers.ts";
import { passUpgrade, refuseUpgrade } from "./upgraded.ts";
import { locationOf, passAnswer } from "./upstream-answer.ts";

/** How long the other server may take to begin an answer, ms: longer than API servers give a request, so that they say what is wrong. */
const HEAD = 70_000;
/** The connection is probed; what is open may be silent for as long as it likes. */
const DEADLINES = Object.freeze({ head: HEAD, idle: Number.POSITIVE_INFINITY });
const NOBODY = "the server behind this view";
const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

type Prepared = Pick<Outgoing, "path" | "headers" | "deadlines"> & Required<Pick<Outgoing, "method" | "signal">>;

/**
 * Passes whole requests on to another server: `handle` and `upgrade` of a virtual workspace. Bytes go both ways as they come,
 * at the pace of whoever is slower; nothing is read, kept or changed but headers. Taken off is what belongs to the connection (RFC 9110 7.6.1, and what
 * `Connection` lists), what says who the caller is (`Authorization`, `Impersonate-*`, `X-Remote-*`, in all cases), and
 * addresses that the client claims (`X-Forwarded-*`, `Forwarded`); then `headers` says what is true of it, and each
 * server that passes a request on counts it (`X-Kcp-Virtual-Resource-Hops`). Of a redirect, none is followed, and one to another host is refused.
 *
 * Short requests wait for one of the upstream's `connections`; what is open-ended has as many of its own as need be. A server
 * that cannot be had is 503, or 504 where a write may have arrived. Answers that break off are cut.
 */
export class ReverseProxy implements ForwardingHandlers, AsyncDisposable {
  readonly #engine: ProxyEngine;
  readonly #owned: Upstream | undefined;
  readonly #options: ProxyOptions;
  readonly #path: NonNullable<ProxyOptions["path"]>;
  readonly #counted: number;
  readonly #origin: string;
  readonly #spells: FailureStreaks;

  /** @throws Error on options of an upstream that cannot be used */
  constructor(options: ProxyOptions) {
    const { upstream, path = asItCame, counts = true, onError } = options;
    this.#owned = "stream" in upstream ? undefined : new Upstream(upstream);
    this.#engine = this.#owned ?? (upstream as ProxyEngine);
    this.#options = options;
    this.#path = path;
    this.#counted = counts ? 1 : 0;
    this.#origin = new URL(this.#engine.url).origin;
    this.#spells = new FailureStreaks(onError ?? ((error) => process.emitWarning(String(error), "ForwardingWarning")));
  }

  /** What sends the requests. */
  get engine(): ProxyEngine {
    return this.#engine;
  }

  /** @throws ApiError 503 or 504 when there is no answer, 429 when too much is open; what the hooks throw */
  readonly handle = async (req: IncomingMessage, res: ServerResponse, request: RawRequest<unknown>): Promise<void> => {
    const open = isOpenEnded(req.method ?? "", request.tail, request.search);
    if (open) request.takeTime();
    const body = RequestBody.of(req);
    const outgoing = { ...this.#outgoing(req, request), long: open };
    const sent = body && { body, ...(body.length !== undefined && { length: body.length }) };
    try {
      const answer = await this.#asked(
        request,
        outgoing.method,
        sent === undefined ? this.#engine.stream(outgoing) : this.#engine.stream({ ...outgoing, ...sent }),
      );
      const location = locationOf(answer, this.#origin) ?? (await this.#astray(answer));
      await passAnswer(answer, { res, location, ending: open ? request.ending : undefined });
    } finally {
      body?.discard();
    }
  };

  /** @throws as {@link handle} */
  readonly upgrade = async (
    req: IncomingMessage,
    socket: Duplex,
    request: RawRequest<unknown> & { readonly head: Buffer },
  ): Promise<void> => {
    const protocol = req.headers.upgrade ?? "";
    const outgoing = { ...this.#outgoing(req, request), protocol };
    const answer = await this.#asked(request, outgoing.method, this.#engine.upgrade(outgoing));
    if (isUpgraded(answer)) await passUpgrade(answer, socket, request.head);
    else {
      const location = locationOf(answer, this.#origin) ?? (await this.#astray(answer));
      await refuseUpgrade(answer, { socket, location });
    }
  };

  /** Ends what is under way, and the connections to the other server if they were made here. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned?.[Symbol.asyncDispose]();
  }

  #outgoing(req: IncomingMessage, request: RawRequest<unknown>): Prepared {
    const { hops, via, search, signal } = request;
    const said = [HOPS_HEADER, String(hops + this.#counted), "Via", via];
    const besides = this.#options.headers?.(request, req);
    if (besides !== undefined) for (const text of besides) said.push(text);
    return {
      method: req.method ?? "GET",
      path: this.#path(request) + search,
      headers: passedHeaders(req, said),
      deadlines: DEADLINES,
      signal,
    };
  }

  async #asked<R extends Pick<StreamedResponse, "status"> & Partial<AsyncDisposable>>(
    request: RawRequest<unknown>,
    method: string,
    asking: Promise<R>,
  ): Promise<R> {
    try {
      const answer = await asking;
      if (answer.status === 401) await this.#refused(answer, request);
      this.#spells.answered("");
      return answer;
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      throw this.#told(upstreamFailure(error, { origin: this.#origin, writes: !READS.has(method) }));
    }
  }

  /** It is us whom it does not know, unless it was shown who asks. The caller can do nothing about that, and must not be told to log in. */
  async #refused(answer: Partial<AsyncDisposable>, request: RawRequest<unknown>): Promise<void> {
    const { callersCredentials = false, onRefused } = this.#options;
    if (callersCredentials) return onRefused?.(request);
    await answer[Symbol.asyncDispose]?.();
    throw upstreamFault(
      this.#origin,
      "does not take the credentials of this one: whoever runs this one has to renew them",
    );
  }

  /** An answer sends its client to another host. */
  async #astray(answer: StreamedResponse): Promise<never> {
    await answer[Symbol.asyncDispose]();
    throw this.#told(upstreamFault(this.#origin, "sends clients to another host, where nobody is sent from here"));
  }

  #told(error: unknown): unknown {
    const fault = causeOfFault(error);
    if (fault === undefined) return error;
    this.#spells.failed(fault, "");
    if (!isApiError(error)) return error;
    const { status } = error;
    const message = (status.message ?? "").replace(NOBODY, this.#options.what ?? NOBODY);
    return new ApiError({ ...status, message }, { cause: fault });
  }
}

/**
 * Passes requests on to another server: `handle` and `upgrade` of a virtual workspace. Who may ask is for `authorize` of the view
 * to say, and what the other server is told of the caller for `headers`.
 *
 * @throws Error on options of an upstream that cannot be used
 *
 * @example
 * ```ts
 * import { authenticated, defineVirtualWorkspace } from "@virtual-workspaces/framework";
 * import { proxy } from "@virtual-workspaces/framework/proxy";
 *
 * const archive = proxy({
 *   upstream: { url: "https://archive.example.dev" },
 *   path: ({ tail }) => tail,
 *   headers: ({ user }) => ["X-Remote-User", user.name],
 * });
 *
 * export default defineVirtualWorkspace({
 *   name: "archive",
 *   path: "/",
 *   authorize: authenticated(),
 *   handle: archive.handle,
 *   upgrade: archive.upgrade,
 *   setup: () => archive, // closed with the server
 * });
 * ```
 * @see docs/how-to/proxying.md
 */
export function proxy(options: ProxyOptions): ReverseProxy {
  return new ReverseProxy(options);
}

function asItCame({ prefix, tail }: Pick<RawRequest<unknown>, "prefix" | "tail">): string {
  return prefix + tail;
}

/** Where the part of a path begins that says what a request is about. */
const API = /\/apis?\/(?!.*\/clusters\/)/;

/** What is open-ended says so by one of these, or by an escape of one. */
const SAYS = /watch|proxy|attach|exec|log|portforward|%/;

/**
 * Whether a request for some view elsewhere is open-ended, as a watch is. Where that view's own part of the path ends nobody
 * here knows: it is read from where API groups begin. It is about how the request is counted, and nothing else.
 */
function isOpenEnded(method: string, tail: string, search: string): boolean {
  if (!SAYS.test(tail) && (search === "" || !SAYS.test(search))) return false;
  const at = API.exec(tail)?.index;
  if (at === undefined) return false;
  try {
    return requestInfo({ method, tail: tail.slice(at), query: new URLSearchParams(search) }).longRunning;
  } catch {
    return false; // for the other server to refuse
  }
}
