import type { IncomingMessage } from "node:http";
import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import { proxyVerb, subjectAccessReview } from "@virtual-workspaces/forwarding";
import { defineVirtualWorkspace, type RawRequest, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { ClusterProxy } from "@virtual-workspaces/kcp";
import { getCondition, READY_CONDITION } from "@virtual-workspaces/kcp/conditions";
import type { Hub } from "../hub/hub.ts";
import { requireProxy } from "../hub/proxy-cache.ts";
import type { Remote } from "../hub/remote-clusters.ts";
import type { ProxyKey } from "../protocol/proxy-key.ts";
import { CLUSTER_PROXY_VIEW } from "../protocol/wire.ts";
import { Direct } from "./direct.ts";

/** Interval between reviews of open watches and upgraded connections, ms. */
const EVERY = 1_000;

/**
 * View of remote clusters: `/services/clusterproxy/<logical cluster or path>/<ClusterProxy>/…`. Callers need the request's verb on
 * `clusterproxies/proxy` of the object, in its workspace. The remote cluster then authorizes them by their name and groups.
 */
export function clusterProxyView(hub: Hub): VirtualWorkspace {
  const { upstream, reviews = upstream, allowCache, onError } = hub.options;
  const may = subjectAccessReview<ProxyKey>({
    upstream: reviews,
    ...(allowCache !== undefined && { allowCache }),
    watchesEvery: EVERY,
    onError,
    attributes: (request) => ({
      verb: proxyVerb(request),
      group: ClusterProxy.group,
      resource: ClusterProxy.plural,
      subresource: "proxy",
      name: request.params.name,
    }),
  });
  const direct = new Direct(hub);
  const wayOf = async (req: IncomingMessage, request: RawRequest<ProxyKey>): Promise<Direct | Remote> =>
    direct.isWanted(req) ? direct : remoteOf(hub, request);
  return defineVirtualWorkspace({
    name: CLUSTER_PROXY_VIEW,
    path: "/:cluster/:name",
    locate: (said) => hub.proxies.locate(said),
    authorize: may,
    // Discovery, reviews and OpenAPI are those of the remote cluster.
    handleWhen: () => true,
    handle: async (req, res, request) => (await wayOf(req, request)).handle(req, res, request),
    upgrade: async (req, socket, request) => (await wayOf(req, request)).upgrade(req, socket, request),
    metrics: () => hub.tunnels.families(),
    ready: () => hub.ready(),
    setup: () => {
      const running = hub.start();
      return {
        [Symbol.asyncDispose]: async () => {
          await running[Symbol.asyncDispose]();
          await Promise.all([may[Symbol.asyncDispose](), direct[Symbol.asyncDispose]()]);
        },
      };
    },
  });
}

/** @throws ApiError 404, 503 */
async function remoteOf(hub: Hub, { params: { cluster, name }, signal }: RawRequest<ProxyKey>): Promise<Remote> {
  const key = { cluster, name };
  const { proxies, remotes, connections } = hub;
  const proxy = requireProxy(proxies.get(key), key);
  // An agent that was connected before may be about to reconnect.
  if (proxy.status?.agent?.epoch !== undefined) await hub.waitFor(key, signal);
  const connection = connections.of(proxy);
  if ("reason" in connection) throw down(proxy, `: ${connection.message}`);
  const remote = remotes.of(key, connection);
  if (remote === undefined) throw down(proxy);
  return remote;
}

/** Returns 503 with the ClusterProxy and the reason. */
function down(proxy: ClusterProxy, why: string = saidBy(proxy)): ApiError {
  return ApiError.serviceUnavailable(`the ClusterProxy ${quote(proxy.metadata.name ?? "")} cannot be reached${why}`);
}

/** Returns the reason in the Ready condition, and since when it holds. */
function saidBy({ metadata, status }: ClusterProxy): string {
  const ready = getCondition(status?.conditions, READY_CONDITION);
  if (ready === undefined || ready.status === "True") return ": its agent has just disconnected and may reconnect soon";
  return ` since ${ready.lastTransitionTime ?? metadata.creationTimestamp ?? "an unknown time"}: ${ready.message}`;
}
