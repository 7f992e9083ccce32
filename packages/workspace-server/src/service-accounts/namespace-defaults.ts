import { isApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { NamespacedObject } from "../tokens/claims.ts";

/** The account that is in every namespace. */
export const DEFAULT_ACCOUNT = "default";
/** The ConfigMap that is in every namespace (`kubectl create token` users and pods read it). */
export const ROOT_CA_CONFIG_MAP = "kube-root-ca.crt";

const DESCRIPTION = "kubernetes.io/description";
const WHAT_FOR =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the " +
  "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/** What {@link NamespaceDefaults} put there. */
export interface NamespaceDefaultsOptions {
  readonly objects: KeptObjects;
  /** PEM that clients trust the server by, as it is now (`--root-ca-file`, else the serving certificate). */
  readonly rootCa: () => string;
}

/**
 * Puts into a namespace what is in every one: the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt`, anew when
 * they are deleted, the ConfigMap as it should be when it was changed. To be asked when a namespace is made or either object
 * changes; asking again does nothing. Nothing is kept here.
 */
export class NamespaceDefaults {
  readonly #objects: KeptObjects;
  readonly #rootCa: () => string;

  constructor({ objects, rootCa }: NamespaceDefaultsOptions) {
    this.#objects = objects;
    this.#rootCa = rootCa;
  }

  /** @throws what the objects throw, but for what others have done in the meantime: ask again later */
  async reconcile(cluster: string, namespace: KubeObject): Promise<void> {
    if (!isActive(namespace)) return;
    const place = { cluster, namespace: namespace.metadata.name ?? "" };
    await this.#ensure({ ...place, resource: "serviceaccounts", name: DEFAULT_ACCOUNT }, (key) => ({
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: key.name, namespace: key.namespace },
    }));
    await this.#ensure({ ...place, resource: "configmaps", name: ROOT_CA_CONFIG_MAP }, (key, now) =>
      rootCaConfigMap(key, now, this.#rootCa()),
    );
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

/** As it should be; what else there is in its metadata stays. */
function rootCaConfigMap({ name, namespace }: KeptKey, now: KubeObject | undefined, ca: string): KubeObject {
  const { metadata = {} } = now ?? {};
  const annotations = { ...metadata.annotations, [DESCRIPTION]: WHAT_FOR };
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...metadata, name, namespace, annotations },
    data: { "ca.crt": ca },
  };
}

/** Another was first, or the namespace ends: what changed calls again. */
function isOvertaken(error: unknown): boolean {
  if (!isApiError(error)) return false;
  const { reason, code, message } = error;
  return reason === "AlreadyExists" || code === 404 || (code === 403 && message.includes("is being terminated"));
}

/** Of which kind an object is that these controllers keep, as its resource is called. */
export type KeptResource = "configmaps" | "secrets" | "serviceaccounts";

/** An object's place, and of which kind it is. */
export interface KeptKey extends NamespacedObject {
  readonly resource: KeptResource;
}

/** What these controllers do with objects. Their writes are the server's own: no rule is asked whether they may. */
export interface KeptObjects {
  /** As it is now: a Secret is removed because its account is not there. */
  get(key: KeptKey): Awaitable<KubeObject | undefined>;
  /** @throws ApiError `AlreadyExists`; 404 or 403 where the namespace is gone, or going */
  create(key: KeptKey, object: KubeObject): Awaitable<unknown>;
  /** @throws ApiError `Conflict`, 404 */
  update(key: KeptKey, object: KubeObject): Awaitable<unknown>;
  /** Of that uid and version only. @throws ApiError `Conflict`, 404 */
  delete(key: KeptKey, preconditions: { readonly uid: string; readonly resourceVersion: string }): Awaitable<unknown>;
}

/** Whether anything may still be made in a namespace. */
export function isActive({ metadata, ...rest }: KubeObject): boolean {
  const { phase } = (rest["status"] ?? {}) as { readonly phase?: unknown };
  return metadata.deletionTimestamp === undefined && phase !== "Terminating";
}
