import { ApiError } from "@virtual-workspaces/apimachinery";
import { type Authenticator, User } from "@virtual-workspaces/framework";
import { bearerTokens } from "@virtual-workspaces/framework/authn";
import { isProof, Proofs, type ProvenAgent } from "./agent-identity.ts";
import type { HubAuthority, HubKeys } from "./hub-keys.ts";
import { type HubTokens, isHubToken, isJoinToken, type JoinToken, joinTokenOf } from "./tokens.ts";

/** By what somebody has shown that they are, or are to be, an agent. */
export type AgentCredential =
  | { readonly kind: "join"; readonly join: JoinToken }
  | { readonly kind: "agent"; readonly proven: ProvenAgent };

/** The same, or that they are another hub of the shard. */
export type Credential = AgentCredential | { readonly kind: "hub"; readonly id: string };

/** By what agents are known. */
export interface AgentUsersOptions {
  readonly keys: HubKeys;
  readonly tokens: HubTokens;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}

/** Who can be one, or is another hub, is known by the user itself, and by no name: names can be given to others. */
export class AgentUsers {
  /** Knows agents, those who are to be, and hubs, by bearer tokens, wherever they would go. */
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

  /** What a user has shown; `undefined` of all who are known otherwise. */
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

  /** @throws ApiError 503: nobody is told that good credentials are bad */
  async #authority(): Promise<HubAuthority> {
    try {
      return await this.#options.keys.get();
    } catch (error) {
      this.#options.onError(error);
      throw ApiError.serviceUnavailable("agents cannot be told from others for now: try again", 1);
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
