import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import { type BoundClaims, type Claims, type LegacyClaims, TokenRefused } from "./claims.ts";

/** Tolerated clock skew, in milliseconds: expired and deleted tokens stay valid that long (go-jose's `DefaultLeeway`). */
const LEEWAY = 60_000;

/**
 * Checks whether a verified token is still valid: its times, and its account and Secret in its own logical cluster. Called
 * for every request.
 */
export class Liveness {
  readonly #accounts: AccountLookup;
  readonly #now: () => number;

  constructor(accounts: AccountLookup, now: () => number) {
    this.#accounts = accounts;
    this.#now = now;
  }

  /** @throws TokenRefused with Kubernetes' text */
  async check(token: string, claims: Claims): Promise<void> {
    if (claims.form === "legacy") await this.#checkLegacy(token, claims);
    else await this.#checkBound(claims);
  }

  async #checkBound({ account, secret, elsewhere, ...times }: BoundClaims): Promise<void> {
    const now = this.#now();
    this.#checkTimes(times, now);
    const { cluster, namespace } = account;
    const found = await this.#account(account);
    checkUid(found, account);
    if (isDeleted(found, now - LEEWAY))
      throw new TokenRefused(`service account ${namespace}/${account.name} has been deleted`);
    const invalidated = "service account token has been invalidated";
    if (elsewhere) throw new TokenRefused(invalidated);
    if (secret === undefined) return;
    const kept = await this.#accounts.secret(cluster, namespace, secret.name);
    if (kept === undefined || isDeleted(kept, now - LEEWAY)) throw new TokenRefused(invalidated);
    const { uid = "" } = kept.metadata;
    if (uid !== secret.uid)
      throw new TokenRefused(`secret UID (${uid}) does not match service account secret ref claim (${secret.uid})`);
  }

  #checkTimes(
    { expires, notBefore, issued }: Pick<BoundClaims, "expires" | "notBefore" | "issued">,
    now: number,
  ): void {
    if (now + LEEWAY < notBefore * 1000) throw new TokenRefused("service account token is not valid yet");
    if (now - LEEWAY > expires * 1000) throw new TokenRefused("service account token has expired");
    if (now + LEEWAY < issued * 1000) throw new TokenRefused("service account token is issued in the future");
  }

  async #checkLegacy(token: string, { account, secretName }: LegacyClaims): Promise<void> {
    const { cluster, namespace } = account;
    const secret = await this.#accounts.secret(cluster, namespace, secretName);
    if (secret === undefined || isDeleted(secret)) throw new TokenRefused("token has been invalidated");
    if (!holds(secret, token)) throw new TokenRefused("token does not match server's copy");
    const found = await this.#account(account);
    if (isDeleted(found)) throw new TokenRefused("serviceaccount has been deleted");
    checkUid(found, account);
  }

  async #account({ cluster, namespace, name }: Claims["account"]): Promise<KubeObject> {
    const found = await this.#accounts.serviceAccount(cluster, namespace, name);
    if (found !== undefined) return found;
    throw new TokenRefused(ApiError.notFound({ group: "", resource: "serviceaccounts" }, name).message);
  }
}

/** An account recreated under the same name is a different one. */
function checkUid({ metadata: { uid = "" } }: KubeObject, claimed: Claims["account"]): void {
  if (uid !== claimed.uid) throw new TokenRefused(`service account UID (${uid}) does not match claim (${claimed.uid})`);
}

function isDeleted({ metadata: { deletionTimestamp } }: KubeObject, before = Number.POSITIVE_INFINITY): boolean {
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < before;
}

function holds(secret: KubeObject, token: string): boolean {
  const { token: encoded } = (secret["data"] ?? {}) as { readonly token?: unknown };
  return typeof encoded === "string" && Buffer.from(encoded, "base64").equals(Buffer.from(token));
}

/**
 * Reads objects that tokens name, in the token's logical cluster, whatever the request's. It is called for every request with
 * a token: answer from memory. A missing object invalidates the token, so throw `ApiError` 503 for an unavailable cluster
 * instead of returning `undefined`.
 */
export interface AccountLookup {
  /** Returns the current ServiceAccount. */
  serviceAccount(cluster: string, namespace: string, name: string): Awaitable<KubeObject | undefined>;
  /** Returns the current Secret. */
  secret(cluster: string, namespace: string, name: string): Awaitable<KubeObject | undefined>;
}
