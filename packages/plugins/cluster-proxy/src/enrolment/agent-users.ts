import { ApiError } from "@virtual-workspaces/apimachinery";
import { type Authenticator, User } from "@virtual-workspaces/framework";
import { bearerTokens } from "@virtual-workspaces/framework/authn";
import { RETRY_AFTER } from "../protocol/retry-after.ts";
import { isProof, Proofs, type ProvenAgent } from "./agent-identity.ts";
import type { HubAuthority, HubKeys } from "./hub-keys.ts";
import { type HubTokens, isHubToken, isJoinToken, type JoinToken, joinTokenOf } from "./tokens.ts";

/** Verified credential of an agent or for a new one. */
export type AgentCredential =
  | { readonly kind: "join"; readonly join: JoinToken }
  | { readonly kind: "agent"; readonly proven: ProvenAgent };

/** Verified credential of an agent or of another hub of the shard. */
export type Credential = AgentCredential | { readonly kind: "hub"; readonly id: string };

/** Options of {@link AgentUsers}. */
export interface AgentUsersOptions {
  readonly keys: HubKeys;
  readonly tokens: HubTokens;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}

/** Users with credentials of agents and hubs. Security: the user object identifies them, not its name, which other users could have. */
export class AgentUsers {
  /** Authenticates bearer tokens of agents, new agents and hubs, at any URL. */
  readonly authenticator: Authenticator;
  readonly #credentials = new WeakMap<User, Credential>();
  readonly #proofs = new Proofs();
  readonly #options: AgentUsersOptions;

  constructor(options: AgentUsersOptions) {
    this.#options = options;
    this.authenticator = bearerTokens({
      name: "agents of cluster proxies",
      verify: async (token) => {
        const credential = await this.#credentialOf(token);
        if (credential === undefined) return undefined;
        const user = new User({ name: `clusterproxy-${credential.kind}:${nameOf(credential)}` });
        this.#credentials.set(user, credential);
        return { user };
      },
      remember: 0,
    });
  }

  /** Returns the credential of a user; `undefined` for users of other authenticators. */
  credentialOf(user: User): Credential | undefined {
    return this.#credentials.get(user);
  }

  async #credentialOf(token: string): Promise<Credential | undefined> {
    const { now, tokens } = this.#options;
    const typ = await typeOf(token);
    if (isJoinToken(typ)) {
      const join = await joinTokenOf(token, await this.#authority(), now());
      return join && { kind: "join", join };
    }
    if (isHubToken(typ)) {
      const id = await tokens.of(token, await this.#authority());
      return id === undefined ? undefined : { kind: "hub", id };
    }
    if (!isProof(typ)) return undefined;
    const proven = await this.#proofs.of(token, await this.#authority(), now());
    return proven && { kind: "agent", proven };
  }

  /** @throws ApiError 503, so that valid credentials are not rejected as invalid */
  async #authority(): Promise<HubAuthority> {
    try {
      return await this.#options.keys.get();
    } catch (error) {
      this.#options.onError(error);
      throw ApiError.serviceUnavailable("the keys to authenticate agents are unavailable: try again", RETRY_AFTER);
    }
  }
}

function nameOf(credential: Credential): string {
  if (credential.kind === "hub") return credential.id;
  const { cluster, name } = credential.kind === "join" ? credential.join : credential.proven.identity;
  return `${cluster}:${name}`;
}

async function typeOf(token: string): Promise<unknown> {
  const { decodeProtectedHeader } = await import("jose");
  try {
    return decodeProtectedHeader(token).typ;
  } catch {
    return undefined;
  }
}
