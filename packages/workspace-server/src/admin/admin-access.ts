import { timingSafeEqual } from "node:crypto";
import type { TokenAuthenticator } from "@virtual-workspaces/framework/authn";
import { readIfThere, writeAtomically } from "./files.ts";
import {
  type AdminKubeconfigOptions,
  adminKubeconfig,
  type EarlierKubeconfig,
  earlierKubeconfig,
} from "./kubeconfig.ts";
import { type AdminTokens, adminTokens, hashOf, KCP_ADMIN, newToken, type PlainUser, SHARD_ADMIN } from "./users.ts";

/** Files that hold the administrators' credentials. */
export interface AdminAccessOptions {
  /** Path of `--kubeconfig-path`: `<root directory>/admin.kubeconfig`. */
  readonly kubeconfig: string;
  /** Path of `--authentication-admin-token-path`: `<root directory>/.admin-token-store`. */
  readonly tokenStore: string;
  /** Users without permissions of their own, such as the one of the battery `user`. @default none */
  readonly users?: readonly PlainUser[];
  /**
   * Whether all tokens in the kubeconfig stay valid, and not only that of `shard-admin`. Security: a copy of the file then
   * gives access until both files are removed.
   * @default false
   */
  readonly keep?: boolean;
}

/**
 * Administrators' credentials for one startup. The kubeconfig alone stores the token of `shard-admin`; the token store has
 * its SHA-256. Security: a kubeconfig of another origin gives no access. Without `keep` the other tokens are new at each startup.
 * Create this before the server listens; the kubeconfig is written as soon as the server's address is known.
 */
export class AdminAccess {
  /** Authenticator of the users' tokens, to come before the other authenticators. */
  readonly authenticator: TokenAuthenticator;
  /** Server URL in the kubeconfig of the last startup, with `keep`. */
  readonly lastServer: string | undefined;
  readonly #options: AdminAccessOptions;
  readonly #tokens: AdminTokens;

  private constructor(options: AdminAccessOptions, earlier: EarlierKubeconfig | undefined) {
    this.#options = options;
    const kept = options.keep === true ? earlier : undefined;
    const tokenOf = (user: string): string => kept?.tokenOf(user) ?? newToken();
    const plain = new Map(options.users?.map(({ name }) => [name, tokenOf(name)]));
    this.#tokens = { shardAdmin: earlier?.tokenOf(SHARD_ADMIN) ?? newToken(), kcpAdmin: tokenOf(KCP_ADMIN), plain };
    this.lastServer = kept?.server;
    this.authenticator = adminTokens(this.#tokens);
  }

  /**
   * Reads the files; writes nothing.
   *
   * @throws Error when the stored token of `shard-admin` is missing or has changed, or a file cannot be read
   */
  static async load(options: AdminAccessOptions): Promise<AdminAccess> {
    const kept = readIfThere(options.tokenStore);
    return new AdminAccess(options, kept && (await verifiedKubeconfig(options, kept)));
  }

  /** Token of `kcp-admin`. Security: it has all rights in the workspaces. */
  get token(): string {
    return this.#tokens.kcpAdmin;
  }

  /**
   * Writes the kubeconfig, readable by its owner only, and then the token's hash. The next startup repairs what a crash
   * between the two leaves.
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

/** Returns the kubeconfig if it has the stored token. @throws Error with kcp's message */
async function verifiedKubeconfig(
  { kubeconfig, tokenStore }: AdminAccessOptions,
  expected: Buffer,
): Promise<EarlierKubeconfig> {
  const text = readIfThere(kubeconfig)?.toString("utf8");
  const earlier = text === undefined ? undefined : await parsed(text, kubeconfig);
  const token = earlier?.tokenOf(SHARD_ADMIN);
  if (earlier === undefined || token === undefined)
    throw new Error(
      `cannot create the 'admin.kubeconfig' file with an empty token for the ${SHARD_ADMIN} user: put ${kubeconfig} back, or remove ${tokenStore} to have a new token made`,
    );
  const actual = hashOf(token);
  if (actual.length === expected.length && timingSafeEqual(actual, expected)) return earlier;
  throw new Error(
    `admin token in file "${kubeconfig}" is not valid anymore. Remove file "${tokenStore}" and restart kcp`,
  );
}

async function parsed(text: string, file: string): Promise<EarlierKubeconfig> {
  try {
    return await earlierKubeconfig(text);
  } catch (error) {
    throw new Error(`invalid kubeconfig "${file}": restore the previous file, or remove it and the token store`, {
      cause: error,
    });
  }
}
