import { impersonationHeaders, remoteHeaders } from "@virtual-workspaces/client/http";
import { type ProxyOptions, proxy, type ReverseProxy } from "@virtual-workspaces/framework/proxy";
import type { ForwardingHandlers } from "@virtual-workspaces/framework/resource";
import { Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { type OutboundIdentity, outboundIdentity } from "../upstream/identity.ts";

/** Where requests are passed on to, and as whom. */
export interface RelayOptions extends Pick<ProxyOptions, "path" | "counts" | "what" | "onError"> {
  /** The other server. One made of options is closed with the relay, one that is given is not. */
  readonly upstream: Upstream | UpstreamOptions;
  /** As whom the other server is asked. @default "impersonate" */
  readonly identity?: OutboundIdentity;
  /**
   * How it is told who that is: by `Impersonate-*`, which needs the right to impersonate there, or as front proxies do by
   * `X-Remote-*`, which is worth what our client certificate is there: a server that does not take it for a proxy's
   * answers us instead, with all that we may do. @default "Impersonate"
   */
  readonly headers?: "Impersonate" | "X-Remote";
  /** What the other server is told besides, flat pairs, the name first; for each request where it differs. @default nothing */
  readonly besides?: readonly string[] | NonNullable<ProxyOptions["headers"]>;
}

/**
 * Passes whole requests on to another server: the framework's `proxy`, and the caller named by the identity that is asked for there.
 * What says who the caller is has been taken off
 * before, and is said anew; addresses that the client claims (`X-Forwarded-*`) are left out, and each
 * server that passes a request on counts it (`X-Kcp-Virtual-Resource-Hops`). Follows no redirect, and passes none on to another host.
 *
 * A server that cannot be had is 503, or 504 where a write may have arrived. Answers that break off are cut.
 */
export class Relay implements ForwardingHandlers, AsyncDisposable {
  readonly upstream: Upstream;
  /** @throws ApiError 503 or 504 when there is no answer, 403 when the caller cannot be told, 429 when too much is open */
  readonly handle: ReverseProxy["handle"];
  /** @throws as {@link handle} */
  readonly upgrade: ReverseProxy["upgrade"];
  readonly #owned: boolean;

  /** @throws Error on options of an upstream that cannot be used */
  constructor(options: RelayOptions) {
    const { upstream, identity = "impersonate", headers, besides = [], ...passing } = options;
    this.#owned = !(upstream instanceof Upstream);
    this.upstream = upstream instanceof Upstream ? upstream : new Upstream(upstream);
    const headersOf = headers === "X-Remote" ? remoteHeaders : impersonationHeaders;
    const { handle, upgrade } = proxy({
      ...passing,
      upstream: this.upstream,
      headers: (request, req) => {
        const as = outboundIdentity(identity, request.user);
        const told = typeof besides === "function" ? besides(request, req) : besides;
        return as === undefined ? told : [...told, ...headersOf(as)];
      },
    });
    this.handle = handle;
    this.upgrade = upgrade;
  }

  /** Ends what is under way, and the connections to the other server if they were made here. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#owned) await this.upstream[Symbol.asyncDispose]();
  }
}

/** A relay to another server. @throws Error on options of an upstream that cannot be used */
export function relay(options: RelayOptions): Relay {
  return new Relay(options);
}
