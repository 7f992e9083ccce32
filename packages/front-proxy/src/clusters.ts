import { REMOTE_HEADERS } from "@virtual-workspaces/client";
import type { Authenticator, VirtualWorkspace } from "@virtual-workspaces/framework";
import { WorkspaceAuthentication } from "@virtual-workspaces/kcp";
import { CLUSTERS_PATH } from "./mapping/mapping.ts";
import type { FrontProxyOptions } from "./options.ts";
import type { Routes } from "./passing/routes.ts";
import { ShardServers } from "./passing/shard-servers.ts";
import { Shards } from "./shards/shards.ts";
import { workspaceLogins } from "./users/workspace-logins.ts";
import { clustersView } from "./views/clusters-view.ts";
import { Places } from "./views/places.ts";

/** What is there for the path `/clusters/`. */
export interface Clusters {
  readonly shards: Shards;
  readonly servers: ShardServers;
  readonly places: Places;
  readonly view: VirtualWorkspace;
  /** Who logs in at another path because it is about a workspace. */
  readonly logins: (path: string) => readonly Authenticator[];
}

/** @returns `undefined` where `/clusters/` is not mapped @throws Error on options that need one another */
export function clustersOf(options: FrontProxyOptions, routes: Routes): Clusters | undefined {
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
  const places = new Places({ shards, servers, routes });
  const logins = authentication && workspaceLogins({ authentication, index: shards.index, routes, groups });
  return { shards, servers, places, view: clustersView(places), logins: logins ?? (() => []) };
}
