import {
  bearerTokens,
  JwtConfigurations,
  type JwtSettings,
  type TokenAuthenticator,
  type TokenVerdict,
} from "@virtual-workspaces/framework/authn";
import type { FoundCluster } from "../path-index/types.ts";
import { confinedUser, rejectionOf } from "../users/identities.ts";
import type { AuthenticatingType, ObjectInCluster, WorkspaceAuthenticators } from "./configurations.ts";
import { KnownTypes } from "./known-types.ts";

/**
 * Who may log in to a workspace because its type says so (kcp's per-workspace authentication): fed with what the shards say of
 * WorkspaceTypes and WorkspaceAuthenticationConfigurations, in any order, as a `PathIndex` is of workspaces, and asked by what that
 * finds. What is set counts for the next request. Types without configurations take no memory; tokens are looked at as
 * {@link JwtConfigurations} does.
 *
 * Whoever may write a type, or the configurations beside it, may be anybody in the workspaces of that type but a user or a
 * member of a group of the system, and nobody anywhere else: the authorizer must honour the extra `authentication.kcp.io/scopes`,
 * as kcp's does. A type is known by its path: if its workspace is deleted, whoever has one made there anew can make that type anew.
 */
export class WorkspaceAuthentication {
  readonly #known = new KnownTypes();
  readonly #tokens: JwtConfigurations;

  /** @param settings how tokens are looked at, and where issuers may be */
  constructor(settings: JwtSettings = {}) {
    this.#tokens = new JwtConfigurations({ ...settings, refuses: rejectionOf });
  }

  /** A WorkspaceType appears or changes, as the shard says that it is on. */
  setType(shard: string, type: AuthenticatingType): void {
    this.#known.setType(shard, type);
  }

  /** A WorkspaceType is gone: workspaces of it are open to nobody by it. */
  deleteType(shard: string, type: ObjectInCluster): void {
    this.#known.deleteType(shard, type);
  }

  /** A WorkspaceAuthenticationConfiguration appears or changes. Tokens that the one before has taken are looked at anew. */
  setConfiguration(shard: string, configuration: WorkspaceAuthenticators): void {
    this.#known.setConfiguration(shard, configuration);
  }

  /** A WorkspaceAuthenticationConfiguration is gone, and nobody comes in by it. */
  deleteConfiguration(shard: string, configuration: ObjectInCluster): void {
    this.#known.deleteConfiguration(shard, configuration);
  }

  /** A shard is gone, with all it said. */
  deleteShard(shard: string): void {
    this.#known.deleteShard(shard);
  }

  /**
   * Who may log in to a logical cluster of a type besides those who may everywhere: to be asked after these. Its users are confined
   * to it: see {@link confinedUser}. Undefined where the type names nothing, and where there is none, as with mounts.
   *
   * @param place what a `PathIndex` found
   */
  of({ cluster, type }: Pick<FoundCluster, "cluster" | "type">): TokenAuthenticator | undefined {
    const configurations = type === undefined ? [] : this.#known.configurationsOf(type);
    if (configurations.length === 0) return undefined;
    const verify = async (token: string): Promise<TokenVerdict | undefined> => {
      const found = await this.#tokens.userOf(token, configurations);
      const user = found && confinedUser(found, cluster);
      return user && { user };
    };
    return bearerTokens({ name: "workspace", verify, remember: 0 });
  }
}
