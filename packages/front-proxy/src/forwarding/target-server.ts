import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type CallerHeaders, remoteHeaders } from "@virtual-workspaces/client/http";
import type { RawRequest, User } from "@virtual-workspaces/framework";
import { proxy, type ReverseProxy } from "@virtual-workspaces/framework/proxy";
import { Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { isUnknownCaller } from "../callers.ts";

/** A server that requests are passed on to. */
export interface TargetServerOptions {
  readonly upstream: UpstreamOptions;
  /** By which headers it is told who asks. */
  readonly headers: CallerHeaders;
  /** What it is called when it cannot be had. */
  readonly what: string;
  readonly onError: (error: unknown) => void;
}

type Request = RawRequest<unknown>;

/**
 * A server behind the front proxy, a shard or a server of virtual workspaces. It is told who asks, where that is known here, by a
 * client certificate of ours. Of whom it is not the bearer token goes on, by which it finds out itself, on connections that show no such
 * certificate: nothing that is said there is believed. As whom callers want to go on (`Impersonate-*`) is for it to allow.
 */
export class TargetServer implements AsyncDisposable {
  /** By which nobody shows a certificate. */
  readonly unknown: Upstream;
  readonly #known: Upstream;
  readonly #ofKnown: ReverseProxy;
  readonly #ofUnknown: ReverseProxy;
  readonly #lines = new WeakMap<User, readonly string[]>();

  /** @throws Error on options of an upstream that cannot be used */
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
      // Of those who bring nothing it says that they have to.
      onRefused: ({ token, loginFailed }) => token !== undefined && loginFailed(),
      headers: (request) => [...tokenLine(request), ...(request.impersonation ?? [])],
    });
  }

  /** Whether requests are under way there. */
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

  /** Ends what is under way there. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#known[Symbol.asyncDispose](), this.unknown[Symbol.asyncDispose]()]);
  }

  /** Made once for each user that authenticators remember. */
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
