import { ApiError } from "@virtual-workspaces/apimachinery";
import { type Authenticator, bearerTokens, User } from "@virtual-workspaces/framework";
import { isProof, Proofs, type ProvenAgent } from "./agent-proof.ts";
import type { HubAuthority, HubKeys } from "./hub-keys.ts";
import { isJoinToken, type JoinToken, joinTokenOf } from "./join-token.ts";

/** By what somebody has shown that they are, or are to be, an agent. */
export type AgentCredential =
  | { readonly kind: "join"; readonly join: JoinToken }
  | { readonly kind: "agent"; readonly proven: ProvenAgent };

/** By what agents are known. */
export interface AgentUsersOptions {
  readonly keys: HubKeys;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}

/** Who can be one is known by the user itself, and by no name: names can be given to others. */
export class AgentUsers {
  /** Knows agents, and those who are to be, by bearer tokens, wherever they would go. */
  readonly authenticator: Authenticator;
  readonly #credentials = new WeakMap<User, AgentCredential>();
  readonly #proofs = new Proofs();
  readonly #keys: HubKeys;
  readonly #now: () => Date;

  readonly #onError: (error: unknown) => void;

  constructor({ keys, now, onError }: AgentUsersOptions) {
    this.#keys = keys;
    this.#now = now;
    this.#onError = onError;
    this.authenticator = bearerTokens({
      name: "agents of cluster proxies",
      verify: async (token) => {
        const credential = await this.#credentialOf(token);
        if (credential === undefined) return undefined;
        const { cluster, name } = credential.kind === "join" ? credential.join : credential.proven.identity;
        const user = new User({ name: `clusterproxy-${credential.kind}:${cluster}:${name}` });
        this.#credentials.set(user, credential);
        return { user };
      },
      remember: 0,
    });
  }

  /** What a user has shown; `undefined` of all who are known otherwise. */
  credentialOf(user: User): AgentCredential | undefined {
    return this.#credentials.get(user);
  }

  async #credentialOf(token: string): Promise<AgentCredential | undefined> {
    const typ = await typeOf(token);
    if (isJoinToken(typ)) {
      const join = await joinTokenOf(token, await this.#authority(), this.#now());
      return join && { kind: "join", join };
    }
    if (!isProof(typ)) return undefined;
    const proven = await this.#proofs.of(token, await this.#authority(), this.#now());
    return proven && { kind: "agent", proven };
  }

  /** @throws ApiError 503: nobody is told that good credentials are bad */
  async #authority(): Promise<HubAuthority> {
    try {
      return await this.#keys.get();
    } catch (error) {
      this.#onError(error);
      throw ApiError.serviceUnavailable("agents cannot be told from others for now: try again", 1);
    }
  }
}

async function typeOf(token: string): Promise<unknown> {
  const { decodeProtectedHeader } = await import("jose");
  try {
    return decodeProtectedHeader(token).typ;
  } catch {
    return undefined;
  }
}
