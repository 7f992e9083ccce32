import { WILDCARD } from "@virtual-workspaces/apimachinery";
import { bearerTokens, type TokenAuthenticator, type TokenVerdict } from "@virtual-workspaces/framework/authn";
import type { WorkspaceAuthenticationConfiguration, WorkspaceType } from "@virtual-workspaces/kcp";
import {
  authenticatingType,
  type WorkspaceAuthentication,
  workspaceAuthenticators,
} from "@virtual-workspaces/kcp/authentication";
import type { PathIndex } from "@virtual-workspaces/kcp/path-index";
import type { ShardPeer } from "./shard-peer.ts";
import { notRunning } from "./unavailable.ts";

/** Returns the authenticators of a logical cluster, by name or path, besides the server's. */
export type WorkspaceLogins = (said: string) => readonly TokenAuthenticator[];

/** Parts of the shard registry that logins by workspace type need. */
interface LoginRegistry {
  readonly authentication: WorkspaceAuthentication | undefined;
  readonly index: Pick<PathIndex, "lookup">;
  readonly shards: readonly unknown[];
  reach(said: string): Promise<void> | undefined;
}

/**
 * Returns logins by workspace type. Authentication precedes the resolution of the path, so this resolves it first. Security:
 * the user is limited to the logical cluster found now, even if the path leads elsewhere a moment later.
 *
 * @returns `undefined` if disabled
 */
export function workspaceLogins(registry: LoginRegistry): WorkspaceLogins | undefined {
  const { authentication } = registry;
  if (authentication === undefined) return undefined;
  const verify = async (said: string, token: string): Promise<TokenVerdict | undefined> => {
    if (registry.shards.length === 0) throw notRunning();
    await registry.reach(said);
    const found = registry.index.lookup(said);
    const user = found.kind === "cluster" && (await authentication.of(found)?.authenticateToken(token));
    return user ? { user } : undefined;
  };
  return (said) => {
    if (said === WILDCARD || said.startsWith("system:")) return [];
    return [bearerTokens({ name: "workspace", verify: (token) => verify(said, token), remember: 0 })];
  };
}

/** Keeps the authenticators current with the types of a shard. @returns stops that */
export function watchWorkspaceLogins({ name, state }: ShardPeer, to: WorkspaceAuthentication): Disposable {
  const stack = new DisposableStack();
  stack.defer(() => to.deleteShard(name));
  const setType = (type: WorkspaceType): void => {
    const named = authenticatingType(type);
    if (named !== undefined) to.setType(name, named);
  };
  stack.use(
    state.workspaceTypes.mirror({
      added: setType,
      updated: setType,
      deleted: (_, { key }) => to.deleteType(name, key),
    }),
  );
  const setConfiguration = (configuration: WorkspaceAuthenticationConfiguration): void => {
    const said = workspaceAuthenticators(configuration);
    if (said !== undefined) to.setConfiguration(name, said);
  };
  stack.use(
    state.workspaceAuthenticationConfigurations.mirror({
      added: setConfiguration,
      updated: setConfiguration,
      deleted: (_, { key }) => to.deleteConfiguration(name, key),
    }),
  );
  return stack;
}
