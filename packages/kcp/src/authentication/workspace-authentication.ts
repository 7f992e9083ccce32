import {
  bearerTokens,
  type JwtAuthenticator,
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
 * Authentication that workspace types configure (kcp's per-workspace authentication). Like a `PathIndex`, it takes the
 * WorkspaceTypes and WorkspaceAuthenticationConfigurations of the shards in any order; look up a place that a `PathIndex` found.
 * Changes apply from the next request on. Types without configurations take no memory. {@link JwtConfigurations} checks tokens.
 *
 * Security: a user who may write a type, or its configurations, can act as any user in the workspaces of that type, but not as a
 * system user or in a system group. The authorizer must honor the extra `authentication.kcp.io/scopes`, as kcp's does, so that
 * this identity has no rights elsewhere. A type is known by its path: after the deletion of its workspace, the owner of a new
 * workspace at that path can create the type again.
 */
export class WorkspaceAuthentication {
  readonly #known = new KnownTypes();
  readonly #tokens: JwtConfigurations;

  /** @param settings how to check tokens, and which hosts issuers may have */
  constructor(settings: JwtSettings = {}) {
    this.#tokens = new JwtConfigurations({ ...settings, refuses: rejectionOf });
  }

  /** Adds or updates a WorkspaceType that a shard reported. */
  setType(shard: string, type: AuthenticatingType): void {
    this.#known.setType(shard, type);
  }

  /** Removes a WorkspaceType. It no longer authenticates users of its workspaces. */
  deleteType(shard: string, type: ObjectInCluster): void {
    this.#known.deleteType(shard, type);
  }

  /** Adds or updates a WorkspaceAuthenticationConfiguration. Tokens that the previous one accepted are checked again. */
  setConfiguration(shard: string, configuration: WorkspaceAuthenticators): void {
    this.#known.setConfiguration(shard, configuration);
  }

  /** Removes a WorkspaceAuthenticationConfiguration, which authenticates no user any more. */
  deleteConfiguration(shard: string, configuration: ObjectInCluster): void {
    this.#known.deleteConfiguration(shard, configuration);
  }

  /** Removes a shard and all its objects. */
  deleteShard(shard: string): void {
    this.#known.deleteShard(shard);
  }

  /**
   * Returns the authenticator of a logical cluster's type, to be tried after those of the whole server. Its users are confined to
   * the logical cluster: see {@link confinedUser}. Returns undefined when the type has no configuration, and for a place without a
   * type, such as a mount.
   *
   * @param place result of a `PathIndex`
   */
  of({ cluster, type }: Pick<FoundCluster, "cluster" | "type">): TokenAuthenticator | undefined {
    return type === undefined ? undefined : this.with(cluster, this.configurationsOf(type));
  }

  /**
   * Returns the token issuers of a type, for {@link with} in another process. They never change: a changed type has others.
   *
   * @param type workspace type with its path, `root:universal`
   */
  configurationsOf(type: string): readonly (readonly JwtAuthenticator[])[] {
    return this.#known.configurationsOf(type);
  }

  /**
   * Returns the authenticator of a logical cluster whose type has these token issuers; undefined when there are none. Security: they
   * must be those of its type, from {@link configurationsOf}.
   */
  with(cluster: string, configurations: readonly (readonly JwtAuthenticator[])[]): TokenAuthenticator | undefined {
    if (configurations.length === 0) return undefined;
    const verify = async (token: string): Promise<TokenVerdict | undefined> => {
      const found = await this.#tokens.userOf(token, configurations);
      const user = found && confinedUser(found, cluster);
      return user && { user };
    };
    return bearerTokens({ name: "workspace", verify, remember: 0 });
  }
}
