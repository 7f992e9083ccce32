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

/** What is there for the path `/clusters/`. */
export interface ClustersPath {
  readonly shards: Shards;
  readonly servers: ShardServers;
  readonly destinations: Destinations;
  readonly view: VirtualWorkspace;
  /** Who logs in at another path because it is about a workspace. */
  readonly logins: (path: string) => readonly Authenticator[];
}

/** @returns `undefined` where `/clusters/` is not mapped @throws Error on options that need one another */
export function clustersOf(options: FrontProxyOptions, routes: Routes): ClustersPath | undefined {
  const { mapping, shards: where, workspaceAuthentication, groups = {}, log } = options;
  const entry = mapping.find(({ path }) => path === CLUSTERS_PATH);
  if (entry === undefined && workspaceAuthentication)
    throw new Error(`workspaceAuthentication: map ${CLUSTERS_PATH} as well, whose shards say who logs in where`);
  if (entry === undefined) return undefined;
  if (where === undefined) throw new Error(`mapping of ${CLUSTERS_PATH}: say by shards where these are`);
  const { tls, credentials, headers = REMOTE_HEADERS } = entry;
  const onError = (error: unknown, shard: string | undefined): void =>
    log({ level: "warn", message: "shard cannot be read", ...(shard && { shard }), error: String(error) });
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
      onError: (error) => log({ level: "warn", message: "shard cannot be had", error: String(error) }),
    },
    shards.index,
  );
  const destinations = new Destinations({ shards, servers, routes });
  const logins = authentication && workspaceLogins({ authentication, index: shards.index, routes, groups });
  return { shards, servers, destinations, view: clustersView(destinations), logins: logins ?? (() => []) };
}

/**
 * Workspaces by their paths below `/clusters`, wherever they are. Who may do what is for shards to say. All logical clusters at once
 * (`*`) are a shard's affair, and 403 here, as in kcp.
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

/** What says who logs in to which workspace. */
interface WorkspaceLoginsOptions {
  readonly authentication: WorkspaceAuthentication;
  readonly index: PathIndex;
  readonly routes: Routes;
  readonly groups: GroupFilter;
}

/**
 * Who logs in to the workspace that `{cluster}` of a mapped path stands for, by its type: servers behind cannot know that. Of where the path has none,
 * leads nowhere, or to a mount, nobody does.
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
