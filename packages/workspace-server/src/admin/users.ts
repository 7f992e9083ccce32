import { hash, randomUUID, timingSafeEqual } from "node:crypto";
import type { User } from "@virtual-workspaces/framework";
import { authenticatedUser, bearerTokens, type TokenAuthenticator } from "@virtual-workspaces/framework/authn";

/** Name of the user in the group `system:masters`, which may do everything. */
export const SHARD_ADMIN = "shard-admin";
/** Name of the user in the group `system:kcp:admin`; kcp's RBAC rules apply. */
export const KCP_ADMIN = "kcp-admin";
/** User whose only group is `system:authenticated`. */
export interface PlainUser {
  /** Name of the user and of the kubeconfig context. */
  readonly name: string;
  /** Path of the workspace that the user's context points to. */
  readonly workspace: string;
}

/** Bearer tokens of the users that the server creates at startup. */
export interface AdminTokens {
  /** Token of `shard-admin`; the same at every startup. */
  readonly shardAdmin: string;
  /** Token of `kcp-admin`; new at every startup unless it is kept. */
  readonly kcpAdmin: string;
  /** Tokens of the plain users, by name; new at every startup unless they are kept. */
  readonly plain?: ReadonlyMap<string, string>;
}

/** Returns a new random token. */
export function newToken(): string {
  return randomUUID();
}

/** Returns the SHA-256 of a token, which does not reveal the token. */
export function hashOf(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** Authenticates the tokens of `admin.kubeconfig`, before all other authenticators. Each startup gives users new uids. */
export function adminTokens({ shardAdmin, kcpAdmin, plain = new Map() }: AdminTokens): TokenAuthenticator {
  const users = [
    entry(shardAdmin, { name: SHARD_ADMIN, groups: ["system:masters"] }),
    entry(kcpAdmin, { name: KCP_ADMIN, groups: ["system:kcp:admin"] }),
    ...Array.from(plain, ([name, token]) => entry(token, { name, groups: [] })),
  ];
  const verify = (token: string): { readonly user: User } | undefined => {
    const shown = hashOf(token);
    return users.find(({ expected }) => timingSafeEqual(expected, shown));
  };
  return bearerTokens({ name: "admin tokens", verify, remember: 0 });
}

function entry(
  token: string,
  { name, groups }: Pick<User, "name" | "groups">,
): { readonly expected: Buffer; readonly user: User } {
  if (token === "") throw new Error(`invalid token of user "${name}": it must not be empty`);
  return { expected: hashOf(token), user: authenticatedUser({ name, uid: randomUUID(), groups }) };
}
