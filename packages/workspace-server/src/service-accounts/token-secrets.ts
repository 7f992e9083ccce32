import { isApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import {
  ACCOUNT_NAME_ANNOTATION,
  ACCOUNT_UID_ANNOTATION,
  type NamespacedObject,
  TOKEN_SECRET_TYPE,
} from "../tokens/claims.ts";
import type { TokenMinter } from "../tokens/minter.ts";
import type { KeptKey, KeptObjects } from "./namespace-defaults.ts";

/** Options of {@link TokenSecrets}. */
export interface TokenSecretsOptions {
  readonly objects: KeptObjects;
  readonly minter: TokenMinter;
  /** CA certificate with which clients verify the server, PEM, current; `""` adds none to Secrets. */
  readonly rootCa: () => string;
}

/**
 * Maintains Secrets with a token of a ServiceAccount: fills in `token`, `ca.crt` and `namespace`, and deletes those whose
 * account is gone or has been replaced. Call it when such a Secret changes, and for each one of a namespace when an account
 * does; repeated calls do nothing. It is stateless.
 */
export class TokenSecrets {
  readonly #options: TokenSecretsOptions;

  constructor(options: TokenSecretsOptions) {
    this.#options = options;
  }

  /** @throws the errors of the objects, `Conflict` among them: call again later */
  async reconcile(place: NamespacedObject): Promise<void> {
    const { objects } = this.#options;
    const key: KeptKey = { ...place, resource: "secrets" };
    const secret = await objects.get(key);
    if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return;
    const account = accountNameIn(secret);
    if (account === undefined) return;
    const owner = await objects.get({ ...place, resource: "serviceaccounts", name: account });
    if (owner === undefined || !isTokenSecretOf(secret, owner)) return this.#remove(key, secret);
    const filled = await this.#filled(place, secret, owner);
    if (filled !== undefined) await objects.update(key, filled);
  }

  async #remove(key: KeptKey, { metadata: { uid = "", resourceVersion = "" } }: KubeObject): Promise<void> {
    try {
      await this.#options.objects.delete(key, { uid, resourceVersion });
    } catch (error) {
      if (!isApiError(error) || error.code !== 404) throw error;
    }
  }

  /** Returns the completed Secret; `undefined` if nothing is missing. */
  async #filled(
    { cluster, namespace, name }: NamespacedObject,
    secret: KubeObject,
    account: KubeObject,
  ): Promise<KubeObject | undefined> {
    const { minter, rootCa } = this.#options;
    const ca = rootCa();
    const data = (secret["data"] ?? {}) as Readonly<Record<string, string>>;
    const uid = account.metadata.uid ?? "";
    const missing = {
      ...(ca !== "" && data["ca.crt"] !== encoded(ca) && { "ca.crt": encoded(ca) }),
      ...((data["namespace"] ?? "") === "" && { namespace: encoded(namespace) }),
      ...((data["token"] ?? "") === "" && {
        token: encoded(await minter.legacy({ cluster, account, secretName: name })),
      }),
    };
    const { annotations = {} } = secret.metadata;
    if (Object.keys(missing).length === 0 && annotations[ACCOUNT_UID_ANNOTATION] === uid) return undefined;
    const metadata = { ...secret.metadata, annotations: { ...annotations, [ACCOUNT_UID_ANNOTATION]: uid } };
    return { ...secret, metadata, data: { ...data, ...missing } };
  }
}

/** Returns the account of a token Secret; `undefined` for another type or without an account. */
export function accountNameIn({ metadata, type }: KubeObject): string | undefined {
  const name = metadata.annotations?.[ACCOUNT_NAME_ANNOTATION] ?? "";
  return type === TOKEN_SECRET_TYPE && name !== "" ? name : undefined;
}

/** Whether a Secret holds, or will hold, a token of exactly this account (Kubernetes' `IsServiceAccountToken`). */
function isTokenSecretOf(secret: KubeObject, account: KubeObject): boolean {
  if (accountNameIn(secret) !== account.metadata.name) return false;
  const uid = secret.metadata.annotations?.[ACCOUNT_UID_ANNOTATION] ?? "";
  return uid === "" || uid === account.metadata.uid;
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}
