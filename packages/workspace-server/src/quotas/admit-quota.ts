import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import { membersOf, specOf } from "../kinds/problems.ts";
import { formatCount } from "../kinds/quantity.ts";
import type { ShardContext } from "../state/context.ts";
import type { KindCount, Reservation } from "./kind-count.ts";
import { countedResource, type QuotaIndex, type QuotaLimits } from "./quota-limits.ts";
import type { QuotaUsage } from "./quota-usage.ts";

/** Options of {@link admitWithinQuotas}. */
export interface QuotaAdmissionOptions {
  readonly kinds: ShardContext["kinds"];
  readonly quotas: QuotaIndex;
  readonly usage: QuotaUsage;
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

async function admitOne(
  { definition, dryRun, signal, settled }: AdmitRequest,
  { cluster, namespace, name }: Place,
  { kinds, quotas, usage }: QuotaAdmissionOptions,
): Promise<void> {
  const resource = `${definition.plural}.${definition.group}`;
  const limiting = (): readonly QuotaLimits[] => quotas.limiting(cluster, resource, namespace);
  if (limiting().length === 0) return;
  const kind = kinds.in(cluster).named(resource);
  if (kind?.deletable !== true) return;
  const count = usage.of(cluster, kind);
  const check = (): void => {
    for (const quota of limiting()) {
      const message = exceeded(quota, resource, count);
      if (message !== undefined) throw ApiError.forbidden({ resource: groupResourceOf(definition), name, message });
    }
  };
  const reserve: Reservation | undefined = dryRun
    ? undefined
    : { count, namespace, id: `${namespace}/${name}`, check, state: "open" };
  await usage.admit({ cluster, count, check }, { signal, reserve });
  if (reserve !== undefined) void settled.then(() => usage.settle(reserve));
}

/** Returns why one more object exceeds a quota, as in Kubernetes; `undefined` if it does not. */
function exceeded({ key, namespace, limits }: QuotaLimits, resource: string, count: KindCount): string | undefined {
  const used = count.expected(namespace);
  const over = limits.filter((limit) => limit.resource === resource && used + 1 > limit.most);
  if (over.length === 0) return undefined;
  const listed = (value: (text: string) => string): string =>
    over
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, text }) => `${name}=${value(text)}`)
      .join(",");
  const usedText = formatCount(used);
  return `exceeded quota: ${key.name}, requested: ${listed(() => "1")}, used: ${listed(() => usedText)}, limited: ${listed((text) => text)}`;
}

/** Warns about names that are valid and limit nothing here. */
function warnAbout({ object, warn, subresource }: AdmitRequest): void {
  if (object === undefined || subresource !== "") return;
  for (const name of Object.keys(membersOf(specOf(object)["hard"])))
    if (countedResource(name) === undefined)
      warn(`spec.hard[${name}]: not enforced: use count/<resource>.<group>, because this server only counts objects`);
}
