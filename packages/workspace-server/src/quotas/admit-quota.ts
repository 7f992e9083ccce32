import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import { membersOf, specOf } from "../kinds/problems.ts";
import { formatCount } from "../kinds/quantity.ts";
import { hasScopes } from "../kinds/quota-scopes.ts";
import type { ShardContext } from "../state/context.ts";
import type { KindCount, Reservation } from "./kind-count.ts";
import { countedResource, type QuotaIndex, type QuotaLimit, type QuotaLimits } from "./quota-limits.ts";
import type { QuotaMeter } from "./quota-meter.ts";
import type { QuotaUsage } from "./quota-usage.ts";

/** Options of {@link admitWithinQuotas}. */
export interface QuotaAdmissionOptions {
  readonly kinds: ShardContext["kinds"];
  readonly quotas: QuotaIndex;
  readonly usage: QuotaUsage;
  readonly meter: QuotaMeter;
}

/**
 * Admits creations within the quotas of their namespace and logical cluster (Kubernetes' ResourceQuota, kcp's
 * `KCPKubeResourceQuota`). As in kcp, LogicalClusters and the ClusterRoleBinding `workspace-admin` are exempt. Writes of the
 * server's own controllers count without being limited.
 *
 * Rejects with 403, with the usage and the limit in the message.
 */
export function admitWithinQuotas(options: QuotaAdmissionOptions): Admit {
  return (request) => {
    const { operation, subresource, definition, params } = request;
    if (definition.plural === "resourcequotas" && definition.group === "" && operation !== "DELETE") warnAbout(request);
    const { cluster = "" } = params;
    if (operation !== "CREATE" || subresource !== "" || !options.quotas.has(cluster)) return;
    request.validate(({ metadata: { namespace = "", name = "" } }) => {
      if (isExempt(`${definition.plural}.${definition.group}`, name)) return undefined;
      return admitOne(request, { cluster, namespace, name }, options);
    });
  };
}

function isExempt(resource: string, name: string): boolean {
  if (resource === "logicalclusters.core.kcp.io") return true;
  return resource === "clusterrolebindings.rbac.authorization.k8s.io" && name === "workspace-admin";
}

interface Place {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

function admitOne(
  { definition, dryRun, signal, settled }: AdmitRequest,
  { cluster, namespace, name }: Place,
  { kinds, quotas, usage, meter }: QuotaAdmissionOptions,
): Promise<void> | undefined {
  const resource = `${definition.plural}.${definition.group}`;
  const limiting = quotas.limiting(cluster, resource, namespace);
  if (limiting.length === 0) return undefined;
  const kind = kinds.in(cluster).named(resource);
  if (kind?.deletable !== true) return undefined;
  const count = usage.of(cluster, kind);
  const fits = (): boolean => limiting.every((quota) => over(quota, resource, count).length === 0);
  const check = (): void => {
    for (const quota of quotas.limiting(cluster, resource, namespace)) {
      const exceeded = over(quota, resource, count);
      if (exceeded.length === 0) continue;
      const message = messageOf(quota, exceeded, count);
      throw ApiError.forbidden({ resource: groupResourceOf(definition), name, message });
    }
  };
  const reserve: Reservation | undefined = dryRun
    ? undefined
    : { count, namespace, id: count.keyOf(namespace, name), check, state: "open" };
  if (reserve !== undefined) void settled.then(() => usage.settle(reserve));
  const startedAt = performance.now();
  const decided = (isRejected: boolean): void =>
    meter.observe({ isRejected, seconds: (performance.now() - startedAt) / 1000 });
  const admitted = usage.admit({ cluster, count, fits, check }, { signal, reserve });
  if (admitted === undefined) {
    decided(false);
    return undefined;
  }
  return admitted.then(
    () => decided(false),
    (error: unknown) => {
      decided(true);
      throw error;
    },
  );
}

const NONE: readonly QuotaLimit[] = [];

/** Returns the limits that one more object exceeds. */
function over({ namespace, limits }: QuotaLimits, resource: string, count: KindCount): readonly QuotaLimit[] {
  const next = count.expected(namespace) + 1;
  const isOver = (limit: QuotaLimit): boolean => limit.resource === resource && next > limit.most;
  return limits.some(isOver) ? limits.filter(isOver).sort((a, b) => (a.name < b.name ? -1 : 1)) : NONE;
}

/** Returns Kubernetes' message. */
function messageOf({ key, namespace }: QuotaLimits, limits: readonly QuotaLimit[], count: KindCount): string {
  const listed = (value: (limit: QuotaLimit) => string): string =>
    limits.map((limit) => `${limit.name}=${value(limit)}`).join(",");
  const used = formatCount(count.expected(namespace));
  return `exceeded quota: ${key.name}, requested: ${listed(() => "1")}, used: ${listed(() => used)}, limited: ${listed(({ text }) => text)}`;
}

/** Warns about names and scopes that are valid and limit nothing here. */
function warnAbout({ object, warn, subresource }: AdmitRequest): void {
  if (object === undefined || subresource !== "") return;
  for (const name of Object.keys(membersOf(specOf(object)["hard"])))
    if (countedResource(name) === undefined)
      warn(`spec.hard[${name}]: not enforced: use count/<resource>.<group>, because this server only counts objects`);
  for (const name of ["scopes", "scopeSelector"] as const)
    if (hasScopes({ [name]: specOf(object)[name] }))
      warn(`spec.${name}: not enforced: remove it, because this server limits nothing by a quota with scopes`);
}
