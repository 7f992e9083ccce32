import type { IncomingMessage } from "node:http";
import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import { proxyVerb, subjectAccessReview } from "@virtual-workspaces/forwarding";
import {
  type AuthorizeRequest,
  type Decision,
  defineVirtualWorkspace,
  deny,
  type RawRequest,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { ClusterProxy } from "@virtual-workspaces/kcp";
import { getCondition, READY_CONDITION } from "@virtual-workspaces/kcp/conditions";
import type { Hub } from "../hub/hub.ts";
import { requireProxy } from "../hub/proxy-cache.ts";
import type { Remote } from "../hub/remote-clusters.ts";
import { CLUSTER_PROXY_CONDITIONS } from "../hub/status.ts";
import { clusterProxyPanels } from "../panels.ts";
import type { ProxyKey } from "../protocol/proxy-key.ts";
import { RETRY_AFTER } from "../protocol/retry-after.ts";
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
  const decide = async (request: AuthorizeRequest<ProxyKey>): Promise<Decision> => {
    const decision = await may(request);
    return decision.allowed ? decision : deny(denialOf(request, decision.reason));
  };
  const direct = new Direct(hub);
  const wayOf = async (req: IncomingMessage, request: RawRequest<ProxyKey>): Promise<Direct | Remote> =>
    direct.isWanted(req) ? direct : remoteOf(hub, request);
  return defineVirtualWorkspace({
    name: CLUSTER_PROXY_VIEW,
    path: "/:cluster/:name",
    locate: (said) => hub.proxies.locate(said),
    authorize: Object.assign(decide, { ...(may.rules && { rules: may.rules }), watchesEvery: EVERY }),
    // Discovery, reviews and OpenAPI are those of the remote cluster.
    handleWhen: () => true,
    handle: async (req, res, request) => (await wayOf(req, request)).handle(req, res, request),
    upgrade: async (req, socket, request) => (await wayOf(req, request)).upgrade(req, socket, request),
    panels: clusterProxyPanels,
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

/** Returns the reason of a 403, which would otherwise read like one of the remote cluster. */
function denialOf(request: AuthorizeRequest<ProxyKey>, reason: string | undefined): string {
  const needed = `${quote(proxyVerb(request))} on clusterproxies/proxy ${quote(request.params.name)}`;
  const said = `the hub denied the request before it reached the remote cluster: it needs ${needed} in the workspace of the ClusterProxy`;
  return reason ? `${said}: ${reason}` : said;
}

/** @throws ApiError 404, 503 */
async function remoteOf(hub: Hub, { params: { cluster, name }, signal }: RawRequest<ProxyKey>): Promise<Remote> {
  const key = { cluster, name };
  const { proxies, remotes, connections } = hub;
  const proxy = requireProxy(proxies.get(key), key);
  if (isAwaited(proxy)) await hub.waitFor(key, signal);
  const connection = connections.of(proxy);
  if ("reason" in connection) throw down(proxy, `: ${connection.message}`, connection.isUnknown);
  const remote = remotes.of(key, connection);
  if (remote === undefined) throw gone(proxies.get(key) ?? proxy);
  return remote;
}

/** Reports whether the agent of a ClusterProxy without a tunnel may be about to reconnect: its status does not say that it is gone. */
function isAwaited({ status }: ClusterProxy): boolean {
  return getCondition(status?.conditions, CLUSTER_PROXY_CONDITIONS.agent)?.status === "True";
}

/** Returns 503 for a ClusterProxy without a tunnel, with the reason in its Ready condition and since when it holds. */
function gone(proxy: ClusterProxy): ApiError {
  const { metadata, status } = proxy;
  if (isAwaited(proxy)) return down(proxy, ": its agent has just disconnected and may reconnect soon", true);
  const ready = getCondition(status?.conditions, READY_CONDITION);
  const since = ready?.lastTransitionTime ?? metadata.creationTimestamp ?? "an unknown time";
  return down(proxy, ` since ${since}: ${ready?.message ?? "its status is not known yet"}`, ready === undefined);
}

/** Returns 503 with the ClusterProxy and the reason. @param passes whether the reason can pass without an action */
function down({ metadata }: ClusterProxy, why: string, passes: boolean): ApiError {
  const message = `the ClusterProxy ${quote(metadata.name ?? "")} cannot be reached${why}`;
  return ApiError.serviceUnavailable(message, passes ? RETRY_AFTER : undefined);
}
