import { timingSafeEqual } from "node:crypto";
import type { TokenAuthenticator } from "@virtual-workspaces/framework/authn";
import { readIfThere, writeAtomically } from "./files.ts";
import { type AdminKubeconfigOptions, adminKubeconfig, tokenIn } from "./kubeconfig.ts";
import { type AdminTokens, adminTokens, hashOf, newToken, type PlainUser, SHARD_ADMIN } from "./users.ts";

/** Where the administrators' access is kept. */
export interface AdminAccessOptions {
  /** `--kubeconfig-path`: `<root directory>/admin.kubeconfig`. */
  readonly kubeconfig: string;
  /** `--authentication-admin-token-path`: `<root directory>/.admin-token-store`. */
  readonly tokenStore: string;
  /** Users without rights of their own, as the battery `user` has one. @default nobody */
  readonly users?: readonly PlainUser[];
}

/**
 * How the administrators of one start get in. The token of `shard-admin` is kept in the kubeconfig alone, and its SHA-256
 * beside, so that a kubeconfig that somebody else has put there lets nobody in; the tokens of the others are new at each
 * start. To be made before listening; the kubeconfig is written as soon as the server's address is known.
 */
export class AdminAccess {
  /** Puts the users' tokens before the other authenticators. */
  readonly authenticator: TokenAuthenticator;
  readonly #options: AdminAccessOptions;
  readonly #tokens: AdminTokens;

  private constructor(options: AdminAccessOptions, shardAdmin: string) {
    this.#options = options;
    const plain = new Map(options.users?.map(({ name }) => [name, newToken()]));
    this.#tokens = { shardAdmin, kcpAdmin: newToken(), plain };
    this.authenticator = adminTokens(this.#tokens);
  }

  /**
   * Reads what is kept; writes nothing.
   *
   * @throws Error when the token of `shard-admin` has been kept and is lost, or is another by now, or a file cannot be read
   */
  static async load(options: AdminAccessOptions): Promise<AdminAccess> {
    const kept = readIfThere(options.tokenStore);
    return new AdminAccess(options, kept === undefined ? newToken() : await keptToken(options, kept));
  }

  /**
   * Writes the kubeconfig, readable by its owner alone, and then what the token is known by: a crash in between leaves
   * what the next start replaces.
   *
   * @throws Error on a file that cannot be written
   */
  write(place: Omit<AdminKubeconfigOptions, "tokens" | "users">): void {
    const { kubeconfig, tokenStore, users = [] } = this.#options;
    writeAtomically(kubeconfig, adminKubeconfig({ ...place, users, tokens: this.#tokens }), 0o600);
    const expected = hashOf(this.#tokens.shardAdmin);
    if (readIfThere(tokenStore)?.equals(expected) !== true) writeAtomically(tokenStore, expected, 0o600);
  }
}

/** @throws Error in kcp's words */
async function keptToken({ kubeconfig, tokenStore }: AdminAccessOptions, expected: Buffer): Promise<string> {
  const text = readIfThere(kubeconfig)?.toString("utf8");
  const token = text === undefined ? undefined : await tokenOf(text, kubeconfig);
  if (token === undefined)
    throw new Error(
      `cannot create the 'admin.kubeconfig' file with an empty token for the ${SHARD_ADMIN} user: put ${kubeconfig} back, or remove ${tokenStore} to have a new token made`,
    );
  const actual = hashOf(token);
  if (actual.length === expected.length && timingSafeEqual(actual, expected)) return token;
  throw new Error(
    `admin token in file "${kubeconfig}" is not valid anymore. Remove file "${tokenStore}" and restart kcp`,
  );
}

async function tokenOf(text: string, file: string): Promise<string | undefined> {
  try {
    return await tokenIn(text, SHARD_ADMIN);
  } catch (error) {
    throw new Error(`${file} is no kubeconfig: put the one of before back, or remove it and the token store`, {
      cause: error,
    });
  }
}
