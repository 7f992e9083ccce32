import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, isApiError, quote } from "@virtual-workspaces/apimachinery";
import { type Relay, relay, sameCaller, subjectAccessReview } from "@virtual-workspaces/forwarding";
import type { RawRequest } from "@virtual-workspaces/framework";
import { deriveRequest } from "@virtual-workspaces/framework/request";
import { ClusterProxy } from "@virtual-workspaces/kcp";
import type { Hub } from "../hub/hub.ts";
import { requireProxy } from "../hub/proxy-cache.ts";
import type { ProxyKey } from "../protocol/proxy-key.ts";

/** Header that directs a request at the URL of a ClusterProxy to the workspace that holds it. */
const HEADER = "x-virtual-workspaces-direct";
const NAME = "X-Virtual-Workspaces-Direct";
/** Interval between reviews of open requests, ms. */
const REVIEW_EVERY = 1_000;
const RIGHT = { verb: "use", subresource: "direct" } as const;

/**
 * Serves the workspaces that hold ClusterProxies at their URLs, for requests with `X-Virtual-Workspaces-Direct: true`. No tunnel is needed.
 * Security: callers need `use` of `clusterproxies/direct` in addition, and the workspace then authorizes them itself.
 */
export class Direct implements AsyncDisposable {
  readonly #hub: Hub;
  readonly #passed: Relay;
  readonly #may: ReturnType<typeof subjectAccessReview<ProxyKey>>;

  constructor(hub: Hub) {
    this.#hub = hub;
    const { upstream, reviews = upstream, allowCache, onError } = hub.options;
    this.#may = subjectAccessReview<ProxyKey>({
      upstream: reviews,
      ...(allowCache !== undefined && { allowCache }),
      onError,
      attributes: ({ params: { name } }) => ({ ...RESOURCE, ...RIGHT, name }),
    });
    this.#passed = relay({
      upstream,
      identity: sameCaller,
      path: ({ prefix, tail }) => `${prefix}${tail || "/"}`,
      what: "the workspace of this ClusterProxy",
      onError,
    });
  }

  /** Forwards a request to the workspace. @throws ApiError 404, 403; as a relay */
  readonly handle = async (req: IncomingMessage, res: ServerResponse, request: RawRequest<ProxyKey>): Promise<void> =>
    this.#passed.handle(req, res, await this.#within(req, res, request));

  /** @throws as {@link handle} */
  readonly upgrade = async (
    req: IncomingMessage,
    socket: Duplex,
    request: RawRequest<ProxyKey> & { readonly head: Buffer },
  ): Promise<void> => this.#passed.upgrade(req, socket, await this.#within(req, socket, request));

  /** Reports whether a request has the header. @throws ApiError 400 */
  isWanted({ headers }: IncomingMessage): boolean {
    const said = headers[HEADER];
    if (said === undefined || said === "true") return said === "true";
    throw ApiError.badRequest(
      `invalid ${NAME}: use true for the workspace of the ClusterProxy itself, or omit the header`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#passed[Symbol.asyncDispose]();
    await this.#may[Symbol.asyncDispose]();
  }

  /** Returns the request for the workspace, which ends when the permission is withdrawn. @throws ApiError 404, 403 */
  async #within<R extends RawRequest<ProxyKey>>(
    req: IncomingMessage,
    open: ServerResponse | Duplex,
    request: R,
  ): Promise<R> {
    await this.#check(request);
    // The header is not forwarded.
    req.rawHeaders = req.rawHeaders.filter((_, at, all) => all[at - (at % 2)]?.toLowerCase() !== HEADER);
    const over = this.#untilWithdrawn(open, request);
    return deriveRequest(request, {
      prefix: `/clusters/${request.params.cluster}`,
      get ending() {
        return AbortSignal.any([request.ending, over]);
      },
    });
  }

  /** Aborts when the permission is withdrawn. A failed review has no effect. */
  #untilWithdrawn(open: ServerResponse | Duplex, request: RawRequest<ProxyKey>): AbortSignal {
    const over = new AbortController();
    // No close event would follow for a client that has already left.
    if (open.destroyed) return over.signal;
    const look = (): void =>
      void this.#check(request).catch((error: unknown) => {
        if (isApiError(error) && error.code < 500) over.abort();
      });
    const timer = setInterval(look, REVIEW_EVERY).unref();
    open.once("close", () => clearInterval(timer));
    return over.signal;
  }

  /** @throws ApiError 404, 403 */
  async #check({ user, params, signal }: RawRequest<ProxyKey>): Promise<void> {
    const { cluster, name } = params;
    requireProxy(this.#hub.proxies.get({ cluster, name }), { name });
    const asked = { path: "", identity: "", version: "", namespace: "", longRunning: false, upgrade: false, name };
    const { allowed } = await this.#may({
      ...asked,
      ...RESOURCE,
      ...RIGHT,
      isResource: true,
      user,
      params: { cluster, name },
      signal,
    });
    if (allowed) return;
    const message = `User ${quote(user.name)} cannot use resource "clusterproxies/direct" in its workspace`;
    throw ApiError.forbidden({ resource: RESOURCE, name, message });
  }
}

const RESOURCE = { group: ClusterProxy.group, resource: ClusterProxy.plural };
