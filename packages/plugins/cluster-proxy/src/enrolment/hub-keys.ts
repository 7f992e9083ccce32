import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { KindReference, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Client, ResourceClient } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import { issueCertificate, type KeyPair } from "@virtual-workspaces/framework/tls";
import { IDENTITY_SECRET_NAMESPACE, ROOT_CLUSTER } from "@virtual-workspaces/kcp";

/** Authority that hubs use to authenticate agents and one another. */
export interface HubAuthority {
  /** PEM. */
  readonly pair: KeyPair;
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

interface SecretContent {
  readonly type?: string;
  /** Base64-encoded values. */
  readonly data?: Readonly<Record<string, string>>;
}

const SECRET: KindReference<SecretContent> = {
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  scope: "Namespaced",
};
const NAME = "clusterproxy-hub";

/**
 * Authority that issues certificates of agents and signs tokens for new ones. All hubs share it in a Secret in `root`, which the first one
 * creates. Security: users who can read the Secret can act as any agent. After its deletion, all agents must enroll again.
 */
export class HubKeys {
  readonly #client: Client;
  readonly #now: () => Date;
  #authority: Promise<HubAuthority> | undefined;

  /** @param client client with read and write access to `root` */
  constructor(client: Client, now: () => Date) {
    this.#client = client.cluster(ROOT_CLUSTER);
    this.#now = now;
  }

  /** Reads the authority once. @throws ApiError if it cannot be read, Error if the Secret is invalid; the next call retries */
  get(): Promise<HubAuthority> {
    this.#authority ??= this.#read().catch((error: unknown) => {
      this.#authority = undefined;
      throw error;
    });
    return this.#authority;
  }

  async #read(): Promise<HubAuthority> {
    const secrets = this.#client.resource(SECRET).in(IDENTITY_SECRET_NAMESPACE);
    const { data = {} } = await secrets.get(NAME).catch(onCode(404, () => this.#made()));
    const pair = { cert: decoded(data["tls.crt"]), key: decoded(data["tls.key"]) };
    try {
      return { pair, certificate: new X509Certificate(pair.cert), key: createPrivateKey(pair.key) };
    } catch (cause) {
      const where = `the Secret ${IDENTITY_SECRET_NAMESPACE}/${NAME} in ${ROOT_CLUSTER}`;
      throw new Error(`${where} holds no certificate and key: delete it, and enroll all agents again`, { cause });
    }
  }

  /** If another hub was first, its Secret is used. */
  async #made(): Promise<SecretContent> {
    const secrets = this.#client.resource(SECRET).in(IDENTITY_SECRET_NAMESPACE);
    const subject = { name: "virtual-workspaces cluster proxies", groups: [] };
    const { cert, key } = await issueCertificate({ subject, purpose: { kind: "authority" }, now: this.#now() });
    const data = { "tls.crt": base64(cert), "tls.key": base64(key) };
    const secret = { metadata: { name: NAME }, type: "kubernetes.io/tls", data };
    return createInSystem(this.#client, SECRET, secret).catch(
      onCode<SecretContent | Promise<SecretContent>>(409, () => secrets.get(NAME)),
    );
  }
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const decoded = (data = ""): string => Buffer.from(data, "base64").toString();

const NAMESPACE: KindReference = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster",
};

/** Creates an object in `kcp-system` of `root`, and its namespace if needed. @throws ApiError 409 if the object exists */
export async function createInSystem<T extends object>(
  root: Client,
  kind: KindReference<T>,
  object: Parameters<ResourceClient<T>["create"]>[0],
): Promise<ObjectOf<T>> {
  const namespace = { metadata: { name: IDENTITY_SECRET_NAMESPACE } };
  await root
    .resource(NAMESPACE)
    .create(namespace)
    .catch(onCode<unknown>(409, () => undefined));
  return root.resource(kind).in(IDENTITY_SECRET_NAMESPACE).create(object);
}
