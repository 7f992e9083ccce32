import { type ProxyOptions, proxy, type ReverseProxy } from "@virtual-workspaces/framework/proxy";
import type { ForwardingHandlers } from "@virtual-workspaces/framework/resource";
import { Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { callerHeaders, type OutboundIdentity, outboundIdentity } from "../upstream/identity.ts";

/** Options of a {@link Relay}. */
export interface RelayOptions extends Pick<ProxyOptions, "path" | "counts" | "what" | "onError"> {
  /** Target server. The relay closes an upstream that it creates from options, but not one that the caller passes. */
  readonly upstream: Upstream | UpstreamOptions;
  /** Identity of forwarded requests. @default "impersonate" */
  readonly identity?: OutboundIdentity;
  /**
   * Headers with that identity: `Impersonate-*`, which requires impersonation rights, or a front proxy's `X-Remote-*`.
   * Security: a server that does not trust our client certificate as a front proxy's ignores `X-Remote-*` and answers with
   * all of our own rights.
   * @default "Impersonate"
   */
  readonly headers?: "Impersonate" | "X-Remote";
  /** Additional headers as flat pairs, or a function that returns them per request. @default none */
  readonly besides?: readonly string[] | NonNullable<ProxyOptions["headers"]>;
}

/**
 * Forwards whole requests to another server: the framework's `proxy`, with the caller's identity in headers. It replaces the
 * identity headers that were stripped, omits addresses that clients claim (`X-Forwarded-*`), and counts hops
 * (`X-Kcp-Virtual-Resource-Hops`). It follows no redirect, and forwards none to another host.
 *
 * An unavailable server is 503, or 504 for a write that it may have received. An incomplete response cuts the connection.
 */
export class Relay implements ForwardingHandlers, AsyncDisposable {
  readonly upstream: Upstream;
  /**
   * @throws ApiError 503 or 504 without a response, 403 for a caller that headers cannot represent, 429 over the limit of
   * open requests
   */
  readonly handle: ReverseProxy["handle"];
  /** @throws as {@link handle} */
  readonly upgrade: ReverseProxy["upgrade"];
  readonly #owned: boolean;

  /** @throws Error for invalid options of an upstream */
  constructor(options: RelayOptions) {
    const { upstream, identity = "impersonate", headers, besides = [], ...passing } = options;
    this.#owned = !(upstream instanceof Upstream);
    this.upstream = upstream instanceof Upstream ? upstream : new Upstream(upstream);
    const { handle, upgrade } = proxy({
      ...passing,
      upstream: this.upstream,
      headers: (request, req) => {
        const as = outboundIdentity(identity, request.user);
        const told = typeof besides === "function" ? besides(request, req) : besides;
        return as === undefined ? told : [...told, ...callerHeaders(as, headers)];
      },
    });
    this.handle = handle;
    this.upgrade = upgrade;
  }

  /** Ends requests in progress, and the connections if they were created here. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#owned) await this.upstream[Symbol.asyncDispose]();
  }
}

/** Creates a relay to another server. @throws Error for invalid options of an upstream */
export function relay(options: RelayOptions): Relay {
  return new Relay(options);
}
