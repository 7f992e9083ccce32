import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { impersonationHeaders } from "@virtual-workspaces/client";
import { HOPS_HEADER, type RawRequest } from "@virtual-workspaces/framework";
import {
  isUpgraded,
  type Outgoing,
  type StreamedResponse,
  Upstream,
  type UpstreamOptions,
} from "@virtual-workspaces/transport";
import { causeOfFault, upstreamFailure, upstreamFault } from "../outbound/failure.ts";
import { type OutboundIdentity, outboundIdentity } from "../outbound/identity.ts";
import { Spells } from "../outbound/spells.ts";
import { answerHeaders } from "./answer-headers.ts";
import { isOpenEnded } from "./open-ended.ts";
import { isLines, passBody } from "./passed-body.ts";
import { RequestBody } from "./request-body.ts";
import { passedHeaders } from "./request-headers.ts";
import { passUpgrade, refuseUpgrade } from "./upgraded.ts";

/** Where requests are passed on to, and as whom. */
export interface RelayOptions {
  /** The other server. One made of options is closed with the relay, one that is given is not. */
  readonly upstream: Upstream | UpstreamOptions;
  /** As whom the other server is asked. @default "impersonate" */
  readonly identity?: OutboundIdentity;
  /** Which path is asked for there, without the query, byte for byte. @default as it came */
  readonly path?: (request: Pick<RawRequest<unknown>, "prefix" | "tail">) => string;
  /** What the other server is called when it cannot be had: clients are told that, and no address. @default "the server behind this view" */
  readonly what?: string;
  /** Told when the other server fails us, once for each spell of failures. Names its address. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/** How long the other server may take to begin an answer, ms: longer than API servers give a request, so that they say what is wrong. */
const HEAD = 70_000;
/** The connection is probed; what is open may be silent for as long as it likes. */
const DEADLINES = { head: HEAD, idle: Number.POSITIVE_INFINITY };
const NOBODY = "the server behind this view";
const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Passes whole requests on to another server: `handle` and `upgrade` of a virtual workspace. Bytes go both ways as they come,
 * at the pace of whoever is slower; nothing is read, kept or changed but headers. What says who the caller is has been taken off
 * before, and is said anew, by `Impersonate-*`; addresses that the client claims (`X-Forwarded-*`) are left out, and each
 * server that passes a request on counts it (`X-Kcp-Virtual-Resource-Hops`). Follows no redirect.
 *
 * A server that cannot be had is 503, or 504 where a write may have arrived. Answers that break off are cut.
 */
export class Relay implements AsyncDisposable {
  readonly upstream: Upstream;
  readonly #owned: boolean;
  readonly #identity: OutboundIdentity;
  readonly #path: NonNullable<RelayOptions["path"]>;
  readonly #what: string;
  readonly #origin: string;
  readonly #spells: Spells;

  /** @throws Error on options of an upstream that cannot be used */
  constructor({ upstream, identity = "impersonate", path = asItCame, what = NOBODY, onError }: RelayOptions) {
    this.#owned = !(upstream instanceof Upstream);
    this.upstream = upstream instanceof Upstream ? upstream : new Upstream(upstream);
    this.#identity = identity;
    this.#path = path;
    this.#what = what;
    this.#origin = new URL(this.upstream.url).origin;
    this.#spells = new Spells(onError ?? ((error) => process.emitWarning(String(error), "ForwardingWarning")));
  }

  /** @throws ApiError 503 or 504 when there is no answer, 403 when the caller cannot be told, 429 when too much is open */
  readonly handle = async (req: IncomingMessage, res: ServerResponse, request: RawRequest<unknown>): Promise<void> => {
    const open = isOpenEnded(req.method ?? "", request.tail, request.search);
    if (open) request.takeTime();
    const body = RequestBody.of(req);
    const sent = body && { body, ...(body.length !== undefined && { length: body.length }) };
    try {
      const answer = await this.#asked(req, request, (outgoing) =>
        this.upstream.stream({ ...outgoing, ...sent, long: true }),
      );
      await pass(answer, res, open ? request.ending : undefined);
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
    const answer = await this.#asked(req, request, (outgoing) => this.upstream.upgrade({ ...outgoing, protocol }));
    if (isUpgraded(answer)) await passUpgrade(answer, socket, request.head);
    else await refuseUpgrade(answer, socket);
  };

  /** Ends what is under way, and the connections to the other server if they were made here. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#owned) await this.upstream[Symbol.asyncDispose]();
  }

  async #asked<R extends Pick<StreamedResponse, "status"> & Partial<AsyncDisposable>>(
    req: IncomingMessage,
    request: RawRequest<unknown>,
    ask: (outgoing: Outgoing) => Promise<R>,
  ): Promise<R> {
    const { method = "GET" } = req;
    const { hops, via, user, search, signal } = request;
    const as = outboundIdentity(this.#identity, user);
    const outgoing: Outgoing = {
      method,
      path: this.#path(request) + search,
      headers: [
        ...passedHeaders(req),
        ...[HOPS_HEADER, String(hops + 1), "Via", via],
        ...(as === undefined ? [] : impersonationHeaders(as)),
      ],
      deadlines: DEADLINES,
      signal,
    };
    try {
      const answer = await ask(outgoing);
      if (answer.status === 401) await this.#refused(answer);
      this.#spells.answered("");
      return answer;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw this.#told(upstreamFailure(error, { origin: this.#origin, writes: !READS.has(method) }));
    }
  }

  /** It is us whom it does not know. The caller can do nothing about that, and must not be told to log in. */
  async #refused(answer: Partial<AsyncDisposable>): Promise<never> {
    await answer[Symbol.asyncDispose]?.();
    throw upstreamFault(
      this.#origin,
      "does not take the credentials of this one: whoever runs this one has to renew them",
    );
  }

  #told(error: unknown): unknown {
    const fault = causeOfFault(error);
    if (fault === undefined) return error;
    this.#spells.failed(fault, "");
    if (!isApiError(error)) return error;
    const { status } = error;
    return new ApiError({ ...status, message: (status.message ?? "").replace(NOBODY, this.#what) }, { cause: fault });
  }
}

/** A relay to another server. @throws Error on options of an upstream that cannot be used */
export function relay(options: RelayOptions): Relay {
  return new Relay(options);
}

async function pass(answer: StreamedResponse, res: ServerResponse, ending: AbortSignal | undefined): Promise<void> {
  res.statusCode = answer.status;
  for (const [name, value] of answerHeaders(answer.headers)) res.setHeader(name, value);
  res.flushHeaders();
  try {
    await passBody(answer, res, isLines(answer) ? ending : undefined);
  } catch {
    res.destroy(); // it is not whole, and the client must see that
  }
}

function asItCame({ prefix, tail }: Pick<RawRequest<unknown>, "prefix" | "tail">): string {
  return prefix + tail;
}
