import { ApiError } from "@virtual-workspaces/apimachinery";
import { subjectAccessReview } from "@virtual-workspaces/forwarding";
import {
  type AuthorizeRequest,
  allow,
  type Decision,
  defineVirtualWorkspace,
  deny,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { ClusterProxy } from "@virtual-workspaces/kcp";
import { problemOf } from "../enrolment/agent-records.ts";
import type { AgentCredential } from "../enrolment/agent-users.ts";
import type { Hub } from "../hub/hub.ts";
import { AgentCertificate, AgentHub, AgentToken } from "../protocol/agent-kinds.ts";
import type { ProxyKey } from "../protocol/proxy-key.ts";
import { AGENTS_VIEW, STREAM_PATH, TUNNEL_PATH } from "../protocol/wire.ts";
import { AgentCertificates, AgentHubs, AgentTokens } from "./agent-storages.ts";
import { acceptTunnel, giveStream } from "./upgrades.ts";

/**
 * View that enrolls agents of ClusterProxies, renews their certificates and accepts their tunnels: `/services/clusterproxy-agents/<logical
 * cluster or path>/<ClusterProxy>`. Agents authenticate with their certificates, only here. Security: users who may create
 * `clusterproxies/token` of the object get tokens for new agents.
 */
export function agentsView(hub: Hub): VirtualWorkspace {
  const { users, proxies, records, options } = hub;
  const { upstream, reviews = upstream, allowCache, onError } = options;
  const mayEnrol = subjectAccessReview<ProxyKey>({
    upstream: reviews,
    ...(allowCache !== undefined && { allowCache }),
    onError,
    attributes: ({ params: { name } }) => ({
      verb: "create",
      group: ClusterProxy.group,
      resource: ClusterProxy.plural,
      subresource: "token",
      name,
    }),
  });
  const authorize = async (request: AuthorizeRequest<ProxyKey>): Promise<Decision> => {
    const credential = users.credentialOf(request.user);
    if (credential === undefined) return mayEnrol(request);
    const { params } = request;
    if (credential.kind === "hub")
      return isUpgradeTo(STREAM_PATH, request) ? allow() : deny("hubs may only open streams of one another");
    if (!isOf(credential, params)) return deny("the credential of the agent is for another ClusterProxy");
    // The cache may be stale after a write of another hub, so a problem is confirmed by a read.
    const problem = problemOf(proxies.get(params), credential) && problemOf(await records.read(params), credential);
    if (problem !== undefined) return deny(problem);
    return mayAsk(credential, request)
      ? allow()
      : deny("agents may only renew certificates, list hubs and open tunnels");
  };
  return defineVirtualWorkspace({
    name: AGENTS_VIEW,
    path: "/:cluster/:name",
    authentication: () => [users.authenticator],
    locate: (said) => proxies.locate(said),
    authorize,
    resources: [
      AgentToken.serve(new AgentTokens(hub)),
      AgentCertificate.serve(new AgentCertificates(hub)),
      AgentHub.serve(new AgentHubs(hub)),
    ],
    upgrade: (req, socket, request) => {
      const credential = users.credentialOf(request.user);
      if (credential?.kind === "hub" && request.tail === STREAM_PATH)
        return giveStream({ req, socket, request }, hub.tunnels);
      if (credential?.kind === "agent" && request.tail === TUNNEL_PATH)
        return acceptTunnel({ req, socket, request, credential }, hub);
      throw ApiError.notFoundPath();
    },
    ready: () => hub.ready(),
    setup: () => mayEnrol,
  });
}

function isOf(credential: AgentCredential, { cluster, name }: ProxyKey): boolean {
  const whose = credential.kind === "join" ? credential.join : credential.proven.identity;
  return whose.cluster === cluster && whose.name === name;
}

/** A token allows only the first certificate; everything else requires the certificate. */
function mayAsk({ kind }: AgentCredential, request: AuthorizeRequest<ProxyKey>): boolean {
  const { isResource, verb, group, resource, subresource } = request;
  if (!isResource) return kind === "agent" && isUpgradeTo(TUNNEL_PATH, request);
  if (group !== AgentCertificate.group || subresource !== "") return false;
  return (
    (resource === AgentCertificate.plural && verb === "create") ||
    (kind === "agent" && resource === AgentHub.plural && verb === "list")
  );
}

function isUpgradeTo(wanted: string, { path, upgrade, isResource }: AuthorizeRequest<ProxyKey>): boolean {
  return !isResource && upgrade && path === wanted;
}
