import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { type APIExport, IDENTITY_SECRET_KEY, IDENTITY_SECRET_NAMESPACE } from "@virtual-workspaces/kcp";
import { identityHash, newIdentityKey } from "@virtual-workspaces/kcp/names";
import { newNamespace } from "../../kinds/namespace.ts";
import { ensure, read, type Writable } from "../../state/modify.ts";

/** Fields of Secrets that are used; values are base64. */
export interface SecretContent {
  data?: Record<string, string>;
  type?: string;
}

/** Options of {@link Identities}. */
export interface IdentityOptions {
  readonly secrets: Writable<SecretContent>;
  readonly namespaces: Writable<object>;
  /** Called when the namespace cannot be created, which is not fatal. */
  readonly onNamespace: (error: unknown) => void;
}

/** Reason why an export has no identity. */
export interface IdentityFault {
  readonly reason: "IdentityGenerationFailed" | "IdentityVerificationFailed";
  readonly message: string;
}

type SecretRef = NonNullable<NonNullable<NonNullable<APIExport["spec"]>["identity"]>["secretRef"]>;

/** Identities of exports: finds the secret of an identity, or creates it when the export names none. */
export class Identities {
  readonly #options: IdentityOptions;

  constructor(options: IdentityOptions) {
    this.#options = options;
  }

  /** Returns the secret of an export that names none; creates it unless it exists. @throws ApiError of the store */
  async secretFor({ cluster, name }: ObjectKey): Promise<SecretRef> {
    const { secrets, namespaces, onNamespace } = this.#options;
    const namespace = IDENTITY_SECRET_NAMESPACE;
    const key = { cluster, namespace: "", name: namespace };
    await ensure(namespaces, key, () => newNamespace(namespace)).catch(onNamespace);
    const data = { [IDENTITY_SECRET_KEY]: Buffer.from(newIdentityKey()).toString("base64") };
    await ensure<SecretContent>(secrets, { cluster, namespace, name }, () => ({ data, type: "Opaque" }));
    return { namespace, name };
  }

  /** Returns the hash of a secret's key, or why there is none. @throws ApiError of the store */
  async hashOf({ namespace = "", name = "" }: SecretRef, cluster: string): Promise<string | IdentityFault> {
    const secret = await read(this.#options.secrets, { cluster, namespace, name });
    if (secret === undefined) return fault(`secrets ${JSON.stringify(name)} not found`);
    const key = Buffer.from(secret.data?.[IDENTITY_SECRET_KEY] ?? "", "base64");
    return key.length === 0 ? fault("secret is missing data.key") : identityHash(key);
  }
}

function fault(message: string): IdentityFault {
  return { reason: "IdentityVerificationFailed", message };
}
