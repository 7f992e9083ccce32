import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import { membersOf, specOf } from "../kinds/problems.ts";
import { quantityOf } from "../kinds/quantity.ts";
import { hasScopes } from "../kinds/quota-scopes.ts";

/** Namespace whose quotas may count in the whole logical cluster, as in kcp. */
const CLUSTER_QUOTAS_NAMESPACE = "admin";

/** Annotation of such quotas. */
const CLUSTER_QUOTA_ANNOTATION = "experimental.quota.kcp.io/cluster-scoped";

/** Resources of the core group that a quota may name without `count/`; Kubernetes counts other names in other units. */
const SHORT: ReadonlySet<string> = new Set([
  ...["configmaps", "secrets", "resourcequotas", "replicationcontrollers", "services", "persistentvolumeclaims"],
]);

/** Resources that no quota counts, as in Kubernetes. */
const UNCOUNTED: ReadonlySet<string> = new Set(["events.", "events.events.k8s.io"]);

/** Maximum of one name in `spec.hard`. */
export interface QuotaLimit {
  /** Name in `spec.hard`: `count/configmaps`, `secrets`. */
  readonly name: string;
  /** `<plural>.<group>` of the counted resource. */
  readonly resource: string;
  readonly most: number;
  /** Maximum as in `spec.hard`. */
  readonly text: string;
}

/** Limits of a ResourceQuota. */
export interface QuotaLimits {
  readonly key: ObjectKey;
  /** Namespace in which objects count; `undefined` for the whole logical cluster. */
  readonly namespace: string | undefined;
  readonly limits: readonly QuotaLimit[];
}

/** Returns the resource, `<plural>.<group>`, of a name in `spec.hard`; `undefined` for names that count no objects. */
export function countedResource(name: string): string | undefined {
  if (SHORT.has(name)) return `${name}.`;
  if (!name.startsWith("count/")) return undefined;
  const resource = name.slice("count/".length);
  const found = resource.includes(".") ? resource : `${resource}.`;
  return UNCOUNTED.has(found) ? undefined : found;
}

/** Returns the limits of a ResourceQuota; none of one with scopes, as in kcp. */
function limitsOf(quota: KubeObject, key: ObjectKey): QuotaLimits {
  const spec = specOf(quota);
  const namespace = isOfCluster(quota, key) ? undefined : key.namespace;
  if (hasScopes(spec)) return { key, namespace, limits: [] };
  const limits = Object.entries(membersOf(spec["hard"])).flatMap(([name, value]): QuotaLimit[] => {
    const resource = countedResource(name);
    const text = String(value);
    return resource === undefined ? [] : [{ name, resource, most: quantityOf(text), text }];
  });
  return { key, namespace, limits };
}

/** Texts that Go parses as true. */
const TRUE: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);

function isOfCluster({ metadata }: KubeObject, { namespace }: ObjectKey): boolean {
  return namespace === CLUSTER_QUOTAS_NAMESPACE && TRUE.has(metadata.annotations?.[CLUSTER_QUOTA_ANNOTATION] ?? "");
}

const NONE: readonly QuotaLimits[] = [];

/** Limits of all quotas, by logical cluster; the owner of the watch keeps them current. A logical cluster without quotas takes no memory. */
export class QuotaIndex {
  /** By `<namespace>/<name>`. */
  readonly #clusters = new Map<string, Map<string, QuotaLimits>>();

  set(quota: KubeObject, key: ObjectKey): void {
    const known = this.#clusters.get(key.cluster) ?? new Map<string, QuotaLimits>();
    known.set(`${key.namespace}/${key.name}`, limitsOf(quota, key));
    this.#clusters.set(key.cluster, known);
  }

  delete({ cluster, namespace, name }: ObjectKey): void {
    const known = this.#clusters.get(cluster);
    known?.delete(`${namespace}/${name}`);
    if (known?.size === 0) this.#clusters.delete(cluster);
  }

  /** Whether a logical cluster has quotas. */
  has(cluster: string): boolean {
    return this.#clusters.has(cluster);
  }

  get({ cluster, namespace, name }: ObjectKey): QuotaLimits | undefined {
    return this.#clusters.get(cluster)?.get(`${namespace}/${name}`);
  }

  /** Returns all quotas. */
  all(): readonly QuotaLimits[] {
    return [...this.#clusters.values()].flatMap((known) => [...known.values()]);
  }

  /** Returns the quotas of a logical cluster. */
  in(cluster: string): readonly QuotaLimits[] {
    const known = this.#clusters.get(cluster);
    return known === undefined ? NONE : [...known.values()];
  }

  /** Returns the quotas that limit a resource in a namespace, "" for cluster-scoped objects. */
  limiting(cluster: string, resource: string, namespace: string): readonly QuotaLimits[] {
    const known = this.#clusters.get(cluster);
    if (known === undefined) return NONE;
    const found: QuotaLimits[] = [];
    for (const quota of known.values())
      if (isFor(quota, namespace) && quota.limits.some((limit) => limit.resource === resource)) found.push(quota);
    return found;
  }
}

/** Whether objects in a namespace count in a quota. */
function isFor(quota: QuotaLimits, namespace: string): boolean {
  return quota.namespace === undefined || quota.namespace === namespace;
}
