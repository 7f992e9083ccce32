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

/** Who may log in to a logical cluster, by its name or path, besides those who may everywhere. */
export type WorkspaceLogins = (said: string) => readonly TokenAuthenticator[];

/** What logging in by the type of a workspace asks of the shard registry. */
interface LoginRegistry {
  readonly authentication: WorkspaceAuthentication | undefined;
  readonly index: Pick<PathIndex, "lookup">;
  readonly shards: readonly unknown[];
  reach(said: string): Promise<void> | undefined;
}

/**
 * By the types of workspaces. As whoever logs in is known before it is said whether there is such a workspace, the path is looked
 * at here first: users are confined to what it leads to now, wherever it may lead in a moment.
 *
 * @returns `undefined` where nobody logs in so
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

/** Tells the authenticators what the types of a shard name, now and as it changes. @returns ends that */
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
