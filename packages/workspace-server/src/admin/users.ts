import { hash, randomUUID, timingSafeEqual } from "node:crypto";
import type { User } from "@virtual-workspaces/framework";
import { authenticatedUser, bearerTokens, type TokenAuthenticator } from "@virtual-workspaces/framework/authn";

/** A user in the group `system:masters`: all is allowed to them. */
export const SHARD_ADMIN = "shard-admin";
/** A user in the group `system:kcp:admin`: kcp's rules decide about them. */
export const KCP_ADMIN = "kcp-admin";
/** Somebody in no group but that of everybody who has logged in. */
export interface PlainUser {
  /** Also of their context. */
  readonly name: string;
  /** The path of the workspace that their context leads to. */
  readonly workspace: string;
}

/** The tokens by which the users of a start log in. */
export interface AdminTokens {
  /** The same at every start. */
  readonly shardAdmin: string;
  /** New at every start. */
  readonly kcpAdmin: string;
  /** By name; new at every start. */
  readonly plain?: ReadonlyMap<string, string>;
}

/** A token that stays among those who are given it. */
export function newToken(): string {
  return randomUUID();
}

/** SHA-256, of which no token can be told. */
export function hashOf(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** Takes the tokens of `admin.kubeconfig`. Each user has another uid at each start. Put it before all others. */
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
  if (token === "") throw new Error(`the token of ${name} may not be empty`);
  return { expected: hashOf(token), user: authenticatedUser({ name, uid: randomUUID(), groups }) };
}
