import { isApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { NamespacedObject } from "../tokens/claims.ts";

/** ServiceAccount of every namespace. */
export const DEFAULT_ACCOUNT = "default";
/** ConfigMap of every namespace, which users of `kubectl create token` and pods read. */
export const ROOT_CA_CONFIG_MAP = "kube-root-ca.crt";

const DESCRIPTION = "kubernetes.io/description";
const WHAT_FOR =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the " +
  "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/** The description, and the members that a current ConfigMap does not have. */
const DESCRIBED = Buffer.from(`${JSON.stringify(DESCRIPTION)}:${JSON.stringify(WHAT_FOR)}`);
const OTHERS = ["binaryData", "immutable"].map((name) => Buffer.from(`${JSON.stringify(name)}:`));

/** Options of {@link NamespaceDefaults}. */
export interface NamespaceDefaultsOptions {
  readonly objects: KeptObjects;
  /** CA certificate with which clients verify the server, PEM, current (`--root-ca-file`, else the serving certificate). */
  readonly rootCa: () => string;
}

/**
 * Ensures the default content of a namespace: the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt`. It recreates
 * deleted ones and reverts changes of the ConfigMap. Call it when a namespace is created or either object changes; repeated
 * calls do nothing. It keeps no state but the encoded certificate.
 */
export class NamespaceDefaults {
  readonly #objects: KeptObjects;
  readonly #rootCa: () => string;
  /** End of a current ConfigMap. */
  #ending: { readonly ca: string; readonly bytes: Buffer } | undefined;

  constructor({ objects, rootCa }: NamespaceDefaultsOptions) {
    this.#objects = objects;
    this.#rootCa = rootCa;
  }

  /** @throws the errors of the objects except those of concurrent changes: call again later */
  async reconcile(cluster: string, namespace: KubeObject): Promise<void> {
    if (!isActive(namespace)) return;
    const place = { cluster, namespace: namespace.metadata.name ?? "" };
    const account = this.#ensure({ ...place, resource: "serviceaccounts", name: DEFAULT_ACCOUNT }, (key) => ({
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: key.name, namespace: key.namespace },
    }));
    const ca = this.#ensure({ ...place, resource: "configmaps", name: ROOT_CA_CONFIG_MAP }, (key, now) =>
      rootCaConfigMap(key, now, this.#rootCa()),
    );
    // Both at once, so that the store commits them together. A failure of one does not keep the other.
    for (const outcome of await Promise.allSettled([account, ca]))
      if (outcome.status === "rejected") throw outcome.reason;
  }

  /** Whether the ConfigMap `kube-root-ca.crt` needs no write: so an event of it needs no call of {@link reconcile}. */
  isCurrent(key: Pick<KeptKey, "namespace" | "name">, configMap: KubeObject): boolean {
    return equalJson(configMap, rootCaConfigMap(key, configMap, this.#rootCa()));
  }

  /**
   * Same as {@link isCurrent}, without parsing. False for some that need no write either.
   *
   * @param bytes JSON of the stored object: a member's name cannot occur in a text of it, where quotation marks are escaped
   */
  isCurrentBytes(bytes: Buffer): boolean {
    const ca = this.#rootCa();
    if (this.#ending?.ca !== ca)
      this.#ending = { ca, bytes: Buffer.from(`,"data":${JSON.stringify({ "ca.crt": ca })}}`) };
    const ending = this.#ending.bytes;
    const from = bytes.length - ending.length;
    if (from < 0 || ending.compare(bytes, from) !== 0 || !bytes.includes(DESCRIBED)) return false;
    return !OTHERS.some((other) => bytes.includes(other));
  }

  async #ensure(key: KeptKey, wanted: (key: KeptKey, now: KubeObject | undefined) => KubeObject): Promise<void> {
    const now = await this.#objects.get(key);
    const object = wanted(key, now);
    try {
      if (now === undefined) await this.#objects.create(key, object);
      else if (key.resource === "configmaps" && !equalJson(now, object)) await this.#objects.update(key, object);
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    }
  }
}

/** Returns the desired object; other metadata stays. */
function rootCaConfigMap(
  { name, namespace }: Pick<KeptKey, "namespace" | "name">,
  now: KubeObject | undefined,
  ca: string,
): KubeObject {
  const { metadata = {} } = now ?? {};
  const annotations = { ...metadata.annotations, [DESCRIPTION]: WHAT_FOR };
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...metadata, name, namespace, annotations },
    data: { "ca.crt": ca },
  };
}

/** Whether another writer was first or the namespace is going: that change causes another call. */
function isOvertaken(error: unknown): boolean {
  if (!isApiError(error)) return false;
  const { reason, code, message } = error;
  return reason === "AlreadyExists" || code === 404 || (code === 403 && message.includes("is being terminated"));
}

/** Resource of an object that these controllers maintain. */
export type KeptResource = "configmaps" | "secrets" | "serviceaccounts";

/** Resource and key of an object. */
export interface KeptKey extends NamespacedObject {
  readonly resource: KeptResource;
}

/** Object access of these controllers. Their writes are the server's own and skip authorization and admission. */
export interface KeptObjects {
  /** Returns the current object, not a cached one: a missing account causes the deletion of its Secret. */
  get(key: KeptKey): Awaitable<KubeObject | undefined>;
  /** @throws ApiError `AlreadyExists`; 404 or 403 where the namespace is gone or under deletion */
  create(key: KeptKey, object: KubeObject): Awaitable<unknown>;
  /** @throws ApiError `Conflict`, 404 */
  update(key: KeptKey, object: KubeObject): Awaitable<unknown>;
  /** Deletes only an object with that uid and version. @throws ApiError `Conflict`, 404 */
  delete(key: KeptKey, preconditions: { readonly uid: string; readonly resourceVersion: string }): Awaitable<unknown>;
}

/** Whether objects may still be created in a namespace. */
export function isActive({ metadata, ...rest }: KubeObject): boolean {
  const { phase } = (rest["status"] ?? {}) as { readonly phase?: unknown };
  return metadata.deletionTimestamp === undefined && phase !== "Terminating";
}
