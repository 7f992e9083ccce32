import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type CallerHeaders, remoteHeaders } from "@virtual-workspaces/client/http";
import type { RawRequest, User } from "@virtual-workspaces/framework";
import { proxy, type ReverseProxy } from "@virtual-workspaces/framework/proxy";
import { Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { isUnknownCaller } from "../callers.ts";

/** Options of a {@link TargetServer}. */
export interface TargetServerOptions {
  readonly upstream: UpstreamOptions;
  /** Headers that identify the caller to the server. */
  readonly headers: CallerHeaders;
  /** Name of the server in errors. */
  readonly what: string;
  readonly onError: (error: unknown) => void;
}

type Request = RawRequest<unknown>;

/**
 * Upstream of the front proxy: a shard or a server of virtual workspaces. It learns the identity of known callers over
 * connections with the proxy's client certificate. Security: for unknown callers, the proxy forwards the bearer token on
 * connections without that certificate, so that the upstream believes no identity headers there. The upstream authorizes
 * impersonation (`Impersonate-*`).
 */
export class TargetServer implements AsyncDisposable {
  /** Connections without a client certificate. */
  readonly unknown: Upstream;
  readonly #known: Upstream;
  readonly #ofKnown: ReverseProxy;
  readonly #ofUnknown: ReverseProxy;
  readonly #lines = new WeakMap<User, readonly string[]>();

  /** @throws Error for invalid options of an upstream */
  constructor({ upstream: to, headers, ...told }: TargetServerOptions) {
    const { credentials: _, ...bare } = to;
    this.unknown = new Upstream(bare);
    this.#known = new Upstream(to);
    this.#ofKnown = proxy({
      ...told,
      upstream: this.#known,
      headers: (request) => {
        const lines = this.#linesOf(request, headers);
        return request.impersonation === undefined ? lines : [...lines, ...request.impersonation];
      },
    });
    this.#ofUnknown = proxy({
      ...told,
      upstream: this.unknown,
      callersCredentials: true,
      // A 401 for a caller without a token is no failed login.
      onRefused: ({ token, loginFailed }) => token !== undefined && loginFailed(),
      headers: (request) => [...tokenLine(request), ...(request.impersonation ?? [])],
    });
  }

  /** Whether requests are pending at the server. */
  get isActive(): boolean {
    return this.#known.stats.active + this.unknown.stats.active > 0;
  }

  /** @throws ApiError as `proxy` does */
  handle(req: IncomingMessage, res: ServerResponse, request: Request): Promise<void> {
    return this.#for(request).handle(req, res, request);
  }

  /** @throws ApiError as `proxy` does */
  upgrade(req: IncomingMessage, socket: Duplex, request: Request & { readonly head: Buffer }): Promise<void> {
    return this.#for(request).upgrade(req, socket, request);
  }

  /** Aborts pending requests. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#known[Symbol.asyncDispose](), this.unknown[Symbol.asyncDispose]()]);
  }

  /** Returns the identity headers of a user, cached for users that authenticators remember. */
  #linesOf({ user }: Request, headers: CallerHeaders): readonly string[] {
    const known = this.#lines.get(user);
    if (known !== undefined) return known;
    const lines = remoteHeaders(callerOf(user), headers);
    this.#lines.set(user, lines);
    return lines;
  }

  #for({ user }: Request): ReverseProxy {
    return isUnknownCaller(user) ? this.#ofUnknown : this.#ofKnown;
  }
}

function callerOf({ name, uid, groups, extra }: User): Parameters<typeof remoteHeaders>[0] {
  return { name, groups, extra, ...(uid !== "" && { uid }) };
}

function tokenLine({ token }: Request): readonly string[] {
  return token === undefined ? [] : ["Authorization", `Bearer ${token}`];
}
