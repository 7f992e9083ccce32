import { randomUUID } from "node:crypto";
import type { JsonObject, KubeObject } from "@virtual-workspaces/apimachinery";
import { boundPayload, legacyPayload, type Named } from "./claims.ts";
import type { ServiceAccountKeys } from "./keys.ts";

/** What `--service-account-issuer` is in kcp. */
export const DEFAULT_ISSUER = "https://kcp.default.svc";

/** What signs tokens, and as whom. */
export interface MinterOptions {
  readonly keys: ServiceAccountKeys;
  /** What `iss` of tokens is. @default DEFAULT_ISSUER */
  readonly issuer?: string;
  /** ms since 1970. @default the clock */
  readonly now?: () => number;
}

/** What a token of limited life is to say. */
export interface BoundTokenRequest {
  readonly cluster: string;
  /** Whose it is to be. */
  readonly account: KubeObject;
  /** The Secret with which it is to end. @default none */
  readonly secret?: KubeObject | undefined;
  readonly audiences: readonly string[];
  /** s */
  readonly seconds: number;
}

/** Signs tokens for service accounts (Kubernetes' `TokenGenerator`). Nothing is kept of them. */
export class TokenMinter {
  readonly #keys: ServiceAccountKeys;
  readonly #issuer: string;
  readonly #now: () => number;

  constructor({ keys, issuer = DEFAULT_ISSUER, now = Date.now }: MinterOptions) {
    this.#keys = keys;
    this.#issuer = issuer;
    this.#now = now;
  }

  /** A token that ends. @returns it, and when that is, ms since 1970 */
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

  /** A token without an end, good as long as its Secret holds it. */
  legacy(request: Pick<BoundTokenRequest, "cluster" | "account"> & { readonly secretName: string }): Promise<string> {
    const { cluster, account, secretName } = request;
    const { namespace = "" } = account.metadata;
    return this.#signed(legacyPayload({ account: { cluster, namespace, ...namedBy(account) }, secretName }));
  }

  async #signed(payload: JsonObject): Promise<string> {
    const { key, algorithm, kid } = this.#keys.signing;
    // Loaded with the first token: a start need not wait for it.
    const { CompactSign } = await import("jose");
    const bytes = new TextEncoder().encode(JSON.stringify(payload));
    return new CompactSign(bytes).setProtectedHeader({ alg: algorithm, kid }).sign(key);
  }
}

function namedBy({ metadata: { name = "", uid = "" } }: KubeObject): Named {
  return { name, uid };
}
