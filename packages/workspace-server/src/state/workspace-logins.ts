import { WILDCARD } from "@virtual-workspaces/apimachinery";
import { bearerTokens, type TokenAuthenticator, type TokenVerdict } from "@virtual-workspaces/framework";
import { type ShardRegistry, notRunning } from "./shard-registry.ts";

/** Who may log in to a logical cluster, by its name or path, besides those who may everywhere. */
export type WorkspaceLogins = (said: string) => readonly TokenAuthenticator[];

/**
 * By the types of workspaces. As whoever logs in is known before it is said whether there is such a workspace, the path is looked
 * at here first: users are confined to what it leads to now, wherever it may lead in a moment.
 *
 * @returns `undefined` where nobody logs in so
 */
export function workspaceLogins(registry: ShardRegistry): WorkspaceLogins | undefined {
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
