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
import { unknownCallers, withGroupFilter } from "../callers.ts";
import type { Routes } from "../forwarding/routes.ts";
import { ShardServers } from "../forwarding/shard-servers.ts";
import { CLUSTERS_PATH } from "../mapping/mapping.ts";
import type { FrontProxyOptions } from "../options.ts";
import { OwnPlaces } from "../places/own-places.ts";
import { after, type Places } from "../places/places.ts";
import { RemoteIndex, RemotePlaces } from "../places/remote-index.ts";
import { Destinations } from "./destinations.ts";

/** Parts of the path `/clusters/`. */
export interface ClustersPath {
  readonly places: Places;
  readonly servers: ShardServers;
  readonly destinations: Destinations;
  readonly view: VirtualWorkspace;
  /**
   * Returns the authenticators of a workspace, by its type, which upstreams of other paths cannot know. Returns none for a mount, and
   * for a path without a workspace.
   */
  readonly loginsOf: (cluster: string) => readonly Authenticator[];
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
  const changed = (shard: string): void => servers.changed(shard);
  const places = placesOf(where, { workspaceAuthentication, log, onError, changed });
  const servers = new ShardServers(
    {
      upstream: { ...(tls && { tls }), ...(credentials && { credentials }) },
      headers,
      onError: (error) => log({ level: "warn", message: "cannot forward to shard", error: String(error) }),
    },
    (shard) => places.shardURL(shard),
  );
  const destinations = new Destinations({ places, servers, routes });
  const loginsOf: ClustersPath["loginsOf"] = (cluster) => {
    if (!workspaceAuthentication || cluster === "" || cluster.startsWith("system:")) return [];
    return places.logins(cluster).map((logins) => withGroupFilter(logins, groups));
  };
  return { places, servers, destinations, view: clustersView(destinations), loginsOf };
}

interface PlacesOptions extends Pick<FrontProxyOptions, "log"> {
  readonly workspaceAuthentication: FrontProxyOptions["workspaceAuthentication"] | undefined;
  readonly onError: (error: unknown, shard: string | undefined) => void;
  readonly changed: (shard: string) => void;
}

function placesOf(where: NonNullable<FrontProxyOptions["shards"]>, options: PlacesOptions): Places {
  const { workspaceAuthentication, log, onError, changed } = options;
  const settings = workspaceAuthentication ? { ...workspaceAuthentication, log } : undefined;
  if (where instanceof RemoteIndex) return new RemotePlaces(where, settings, changed);
  const authentication = settings && new WorkspaceAuthentication(settings);
  return new OwnPlaces({ root: where.root, shards: where.read, authentication, onError }, changed);
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
    handle: (req, res, request) =>
      after(destinations.of(request.params, request.user), ({ server, prefix }) =>
        server.handle(req, res, deriveRequest(request, { prefix })),
      ),
    upgrade: (req, socket, request) =>
      after(destinations.of(request.params, request.user), ({ server, prefix }) =>
        server.upgrade(req, socket, deriveRequest(request, { prefix })),
      ),
  });
}
