import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import {
  type Cancellation,
  isUpgraded,
  type Outgoing,
  type StreamedResponse,
  type UpgradedResponse,
  Upstream,
} from "@virtual-workspaces/transport";
import { cancellationOf } from "../request/handled-request.ts";
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

/**
 * Time limit for the head of an upstream response, ms: longer than API servers give a request, so that their own error
 * arrives.
 */
const HEAD = 70_000;
/** No idle limit: the connection is probed, and an open stream may be silent. */
const DEADLINES = Object.freeze({ head: HEAD, idle: Number.POSITIVE_INFINITY });
const NOBODY = "the server behind this view";
const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

const NONE: readonly string[] = [];

/** A request as it is put together. */
type Prepared = { -readonly [Name in keyof Outgoing]: Outgoing[Name] } & Pick<Required<Outgoing>, "method">;

/**
 * Proxies whole requests to an upstream: `handle` and `upgrade` of a virtual workspace. It streams bytes both ways at the
 * pace of the slower side, and changes headers only. It strips connection headers (RFC 9110 7.6.1, and what `Connection`
 * lists), identity headers (`Authorization`, `Impersonate-*`, `X-Remote-*`, in any case) and client addresses
 * (`X-Forwarded-*`, `Forwarded`); then it adds the result of `headers` and counts the hop (`X-Kcp-Virtual-Resource-Hops`). It
 * follows no redirect and rejects one to another host. From responses it strips CORS headers.
 *
 * Short requests share the upstream's `connections`; open-ended ones get connections of their own. An unreachable upstream is
 * 503, or 504 where a write may have arrived. An incomplete response is cut.
 */
export class ReverseProxy implements ForwardingHandlers, AsyncDisposable {
  readonly #engine: ProxyEngine;
  readonly #owned: Upstream | undefined;
  readonly #options: ProxyOptions;
  readonly #path: NonNullable<ProxyOptions["path"]>;
  readonly #counted: number;
  readonly #origin: string;
  readonly #spells: FailureStreaks;
  readonly #takesCancellations: boolean;

  /** @throws Error on invalid options of an upstream */
  constructor(options: ProxyOptions) {
    const { upstream, path = asItCame, counts = true, onError } = options;
    this.#owned = "stream" in upstream ? undefined : new Upstream(upstream);
    this.#engine = this.#owned ?? (upstream as ProxyEngine);
    this.#takesCancellations = this.#engine instanceof Upstream;
    this.#options = options;
    this.#path = path;
    this.#counted = counts ? 1 : 0;
    this.#origin = new URL(this.#engine.url).origin;
    this.#spells = new FailureStreaks(onError ?? ((error) => process.emitWarning(String(error), "ForwardingWarning")));
  }

  /** Engine that sends the requests. */
  get engine(): ProxyEngine {
    return this.#engine;
  }

  /**
   * Proxies a request.
   * @throws ApiError 503 or 504 when there is no response, 429 when too many requests are open; exceptions of hooks
   */
  readonly handle = async (req: IncomingMessage, res: ServerResponse, request: RawRequest<unknown>): Promise<void> => {
    const open = isOpenEnded(req.method ?? "", request.tail, request.search);
    if (open) request.takeTime();
    const body = RequestBody.of(req);
    const outgoing = this.#outgoing(req, request, NONE);
    outgoing.long = open;
    if (body !== undefined) {
      outgoing.body = body;
      if (body.length !== undefined) outgoing.length = body.length;
    }
    try {
      let answer: StreamedResponse;
      try {
        answer = await this.#engine.stream(outgoing);
        if (answer.status === 401) await this.#refused(answer, request);
      } catch (error) {
        throw this.#failure(error, request, outgoing.method);
      }
      this.#spells.answered("");
      const location = locationOf(answer, this.#origin) ?? (await this.#astray(answer));
      const passing = passAnswer(answer, { res, location, ending: open ? request.ending : undefined });
      if (passing !== undefined) await passing;
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
    const outgoing = { ...this.#outgoing(req, request, this.#originFor(req)), protocol };
    let answer: StreamedResponse | UpgradedResponse;
    try {
      answer = await this.#engine.upgrade(outgoing);
      if (answer.status === 401 && !isUpgraded(answer)) await this.#refused(answer, request);
    } catch (error) {
      throw this.#failure(error, request, outgoing.method);
    }
    this.#spells.answered("");
    if (isUpgraded(answer)) await passUpgrade(answer, socket, request.head);
    else {
      const location = locationOf(answer, this.#origin) ?? (await this.#astray(answer));
      await refuseUpgrade(answer, { socket, location });
    }
  };

  /** Ends requests under way, and closes the upstream if the proxy made it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned?.[Symbol.asyncDispose]();
  }

  /**
   * Returns the origin of an upgrade, as header. This server has checked the page's own. API servers require the header for
   * watches over WebSockets, and may require that it names them.
   */
  #originFor({ headers: { origin } }: IncomingMessage): readonly string[] {
    return origin === undefined ? [] : ["Origin", this.#origin];
  }

  #outgoing(req: IncomingMessage, request: RawRequest<unknown>, more: readonly string[]): Prepared {
    const { hops, via, search } = request;
    const said = [HOPS_HEADER, String(hops + this.#counted), "Via", via];
    for (const text of more) said.push(text);
    const besides = this.#options.headers?.(request, req);
    if (besides !== undefined) for (const text of besides) said.push(text);
    const outgoing: Prepared = {
      method: req.method ?? "GET",
      path: this.#path(request) + search,
      headers: passedHeaders(req, said),
      deadlines: DEADLINES,
    };
    // Other engines know signals only.
    const cancellation = this.#takesCancellations ? cancellationOf(request) : undefined;
    if (cancellation === undefined) outgoing.signal = request.signal;
    else outgoing.cancellation = cancellation;
    return outgoing;
  }

  /** Returns the error for a request without a response: the reason of its end, else a Status. */
  #failure(error: unknown, request: RawRequest<unknown>, method: string): unknown {
    const { cancelled, reason } = stateOf(request);
    if (cancelled) return reason;
    return this.#told(upstreamFailure(error, { origin: this.#origin, writes: !READS.has(method) }));
  }

  /**
   * A 401 concerns this server's credentials, unless the upstream got the caller's. The caller cannot fix it, and must not be
   * asked to log in.
   */
  async #refused(answer: Partial<AsyncDisposable>, request: RawRequest<unknown>): Promise<void> {
    const { callersCredentials = false, onRefused } = this.#options;
    if (callersCredentials) return onRefused?.(request);
    await answer[Symbol.asyncDispose]?.();
    throw upstreamFault(this.#origin, "rejected this server's credentials: renew those that this server sends to it");
  }

  /** Rejects a response that redirects to another host. */
  async #astray(answer: StreamedResponse): Promise<never> {
    await answer[Symbol.asyncDispose]();
    throw this.#told(
      upstreamFault(this.#origin, "redirects to another host, and this server forwards no such redirect"),
    );
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
 * Creates a proxy to an upstream: `handle` and `upgrade` of a virtual workspace. The view's `authorize` decides who may use
 * it, and `headers` what the upstream learns about the caller.
 *
 * @throws Error on invalid options of an upstream
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

/** Returns whether a request has ended, and why. */
function stateOf(request: RawRequest<unknown>): Pick<Cancellation, "cancelled" | "reason"> {
  const cancellation = cancellationOf(request);
  if (cancellation !== undefined) return cancellation;
  const { aborted, reason } = request.signal;
  return { cancelled: aborted, reason };
}

/** Start of the API part of a path. */
const API = /\/apis?\/(?!.*\/clusters\/)/;

/** Words, or their escapes, that every open-ended request contains. */
const SAYS = /watch|proxy|attach|exec|log|portforward|%/;

/**
 * Guesses whether a request to an upstream view is open-ended, such as a watch. Where the upstream's prefix ends is unknown
 * here, so it starts from the API groups. The result affects only how the request is counted.
 */
function isOpenEnded(method: string, tail: string, search: string): boolean {
  if (!SAYS.test(tail) && (search === "" || !SAYS.test(search))) return false;
  const at = API.exec(tail)?.index;
  if (at === undefined) return false;
  try {
    return requestInfo({ method, tail: tail.slice(at), query: new URLSearchParams(search) }).longRunning;
  } catch {
    return false; // left to the upstream to reject
  }
}
