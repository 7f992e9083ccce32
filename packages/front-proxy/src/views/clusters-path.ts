import { REMOTE_HEADERS } from "@virtual-workspaces/client/http";
import {
  type Authenticator,
  allow,
  defineVirtualWorkspace,
  deny,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { deriveRequest } from "@virtual-workspaces/framework/request";
import { WorkspaceAuthentication } from "@virtual-workspaces/kcp/authentication";
import type { PathIndex } from "@virtual-workspaces/kcp/path-index";
import { type GroupFilter, unknownCallers, withGroupFilter } from "../callers.ts";
import type { Routes } from "../forwarding/routes.ts";
import { ShardServers } from "../forwarding/shard-servers.ts";
import { CLUSTERS_PATH } from "../mapping/mapping.ts";
import type { FrontProxyOptions } from "../options.ts";
import { Shards } from "../shards/shards.ts";
import { Destinations } from "./destinations.ts";

/** Parts of the path `/clusters/`. */
export interface ClustersPath {
  readonly shards: Shards;
  readonly servers: ShardServers;
  readonly destinations: Destinations;
  readonly view: VirtualWorkspace;
  /** Returns the workspace's authenticators for another path. */
  readonly logins: (path: string) => readonly Authenticator[];
}

/** @returns `undefined` if `/clusters/` is not mapped @throws Error for options that need each other */
export function clustersOf(options: FrontProxyOptions, routes: Routes): ClustersPath | undefined {
  const { mapping, shards: where, workspaceAuthentication, groups = {}, log } = options;
  const entry = mapping.find(({ path }) => path === CLUSTERS_PATH);
  if (entry === undefined && workspaceAuthentication)
    throw new Error(`workspaceAuthentication needs the shards of ${CLUSTERS_PATH}: add a mapping of that path`);
  if (entry === undefined) return undefined;
  if (where === undefined) throw new Error(`mapping of ${CLUSTERS_PATH}: set the option shards`);
  const { tls, credentials, headers = REMOTE_HEADERS } = entry;
  const onError = (error: unknown, shard: string | undefined): void =>
    log({ level: "warn", message: "cannot read shard", ...(shard && { shard }), error: String(error) });
  const authentication = workspaceAuthentication
    ? new WorkspaceAuthentication({ ...workspaceAuthentication, log })
    : undefined;
  const shards = new Shards({ root: where.root, shards: where.read, logins: authentication, onError }, (shard) =>
    servers.changed(shard),
  );
  const servers = new ShardServers(
    {
      upstream: { ...(tls && { tls }), ...(credentials && { credentials }) },
      headers,
      onError: (error) => log({ level: "warn", message: "cannot forward to shard", error: String(error) }),
    },
    shards.index,
  );
  const destinations = new Destinations({ shards, servers, routes });
  const logins = authentication && workspaceLogins({ authentication, index: shards.index, routes, groups });
  return { shards, servers, destinations, view: clustersView(destinations), logins: logins ?? (() => []) };
}

/**
 * View of all workspaces by their paths below `/clusters`, on any shard. Shards authorize the requests. Requests to all
 * logical clusters (`*`) are 403 here, as in kcp.
 */
function clustersView(destinations: Destinations): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "clusters",
    prefix: "/clusters",
    path: "/:cluster",
    wildcard: true,
    authentication: () => [unknownCallers],
    locate: (said, { user }) => destinations.locate(said, user),
    authorize: ({ params }) => (params.cluster === "*" ? deny("workspace access not permitted") : allow()),
    takesToken: true,
    passesImpersonation: true,
    handleWhen: () => true,
    handle: (req, res, request) => {
      const { server, prefix } = destinations.of(request.params, request.user);
      return server.handle(req, res, deriveRequest(request, { prefix }));
    },
    upgrade: (req, socket, request) => {
      const { server, prefix } = destinations.of(request.params, request.user);
      return server.upgrade(req, socket, deriveRequest(request, { prefix }));
    },
  });
}

/** Sources of authenticators for workspaces. */
interface WorkspaceLoginsOptions {
  readonly authentication: WorkspaceAuthentication;
  readonly index: PathIndex;
  readonly routes: Routes;
  readonly groups: GroupFilter;
}

/**
 * Returns the authenticators of the workspace at `{cluster}` of a mapped path, by its type, which upstreams cannot know.
 * Returns none for a path without a workspace, or with a mount.
 */
function workspaceLogins(options: WorkspaceLoginsOptions): (path: string) => readonly Authenticator[] {
  const { authentication, index, routes, groups } = options;
  return (path) => {
    const cluster = routes.of(path)?.clusterIn(path);
    const found = cluster === undefined || cluster.startsWith("system:") ? undefined : index.lookup(cluster);
    const logins = found?.kind === "cluster" ? authentication.of(found) : undefined;
    return logins === undefined ? [] : [withGroupFilter(logins, groups)];
  };
}
