import { randomUUID } from "node:crypto";
import type { JsonObject, KubeObject } from "@virtual-workspaces/apimachinery";
import { boundPayload, legacyPayload, type Named } from "./claims.ts";
import type { ServiceAccountKeys } from "./keys.ts";

/** kcp's default of `--service-account-issuer`. */
export const DEFAULT_ISSUER = "https://kcp.default.svc";

/** Keys and issuer of {@link TokenMinter}. */
export interface MinterOptions {
  readonly keys: ServiceAccountKeys;
  /** Value of the claim `iss`. @default DEFAULT_ISSUER */
  readonly issuer?: string;
  /** Returns ms since 1970. @default the system clock */
  readonly now?: () => number;
}

/** Content of a token that expires. */
export interface BoundTokenRequest {
  readonly cluster: string;
  /** Account of the token. */
  readonly account: KubeObject;
  /** Secret whose deletion invalidates the token. @default none */
  readonly secret?: KubeObject | undefined;
  readonly audiences: readonly string[];
  /** Lifetime, in seconds. */
  readonly seconds: number;
}

/** Signs tokens for service accounts (Kubernetes' `TokenGenerator`). It stores none of them. */
export class TokenMinter {
  readonly #keys: ServiceAccountKeys;
  readonly #issuer: string;
  readonly #now: () => number;

  constructor({ keys, issuer = DEFAULT_ISSUER, now = Date.now }: MinterOptions) {
    this.#keys = keys;
    this.#issuer = issuer;
    this.#now = now;
  }

  /** Signs a token that expires. @returns the token and its expiration, ms since 1970 */
  async bound(request: BoundTokenRequest): Promise<{ readonly token: string; readonly expiresAt: number }> {
    const { cluster, account, secret, audiences, seconds } = request;
    const issued = Math.floor(this.#now() / 1000);
    const { namespace = "" } = account.metadata;
    const claims = {
      account: { cluster, namespace, ...namedBy(account) },
      secret: secret && namedBy(secret),
      id: randomUUID(),
      audiences,
      issued,
      notBefore: issued,
      expires: issued + seconds,
    };
    const token = await this.#signed(boundPayload(claims, this.#issuer));
    return { token, expiresAt: (issued + seconds) * 1000 };
  }

  /** Signs a token without expiration, valid while its Secret holds it. */
  legacy(request: Pick<BoundTokenRequest, "cluster" | "account"> & { readonly secretName: string }): Promise<string> {
    const { cluster, account, secretName } = request;
    const { namespace = "" } = account.metadata;
    return this.#signed(legacyPayload({ account: { cluster, namespace, ...namedBy(account) }, secretName }));
  }

  async #signed(payload: JsonObject): Promise<string> {
    const { key, algorithm, kid } = this.#keys.signing;
    // Loaded with the first token, so that it does not delay the start.
    const { CompactSign } = await import("jose");
    const bytes = new TextEncoder().encode(JSON.stringify(payload));
    return new CompactSign(bytes).setProtectedHeader({ alg: algorithm, kid }).sign(key);
  }
}

function namedBy({ metadata: { name = "", uid = "" } }: KubeObject): Named {
  return { name, uid };
}
