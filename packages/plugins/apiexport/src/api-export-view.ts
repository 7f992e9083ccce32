import { WILDCARD } from "@virtual-workspaces/apimachinery";
import type { Impersonation } from "@virtual-workspaces/client/http";
import { impersonated, type OutboundIdentity, sameCaller } from "@virtual-workspaces/forwarding";
import { defineVirtualWorkspace, type Identity, User, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { contentWarrant, withWarrant } from "@virtual-workspaces/kcp/users";
import { exportAccess, exportOf, located } from "./access.ts";
import { ApiModel } from "./model/api-model.ts";
import type { ApiExportViewOptions } from "./options.ts";
import { ExportResources } from "./served/export-resources.ts";
import { claimableResources, SchemaKinds } from "./served/kinds.ts";

/**
 * Returns kcp's view of APIExports, `/services/apiexport/<logical cluster of the export>/<export>/clusters/<logical cluster or *>`.
 * It shows the objects of an export in the workspaces of one shard that bind it, the objects that these workspaces grant its
 * provider, and their bindings. The provider needs no rights in those workspaces: a user with `apiexports/content` on the export
 * reads all of them at once, and reads and writes in each.
 *
 * The view calls the workspaces of a shard as one of its administrators. Lists, watches and writes are forwarded as bytes. One
 * upstream watch serves all watches of a resource across all workspaces. The view is ready after reading exports, schemas and
 * bindings.
 *
 * @example
 * ```ts
 * import { apiExportView } from "@virtual-workspaces/apiexport";
 * import type { Workspaces } from "@virtual-workspaces/forwarding";
 *
 * export default (workspaces: Workspaces) => apiExportView(workspaces);
 * ```
 * @see docs/how-to/apiexport.md
 */
export function apiExportView(options: ApiExportViewOptions): VirtualWorkspace {
  const { upstream, identity, kinds = [], onError = warn } = options;
  const { model = new ApiModel(options) } = options;
  const access = exportAccess(model, options);
  const resources = new ExportResources({
    model,
    upstream,
    onError,
    identity: throughExport(identity),
    kinds: new SchemaKinds(),
    claimable: claimableResources(kinds),
  });
  return defineVirtualWorkspace({
    name: "apiexport",
    path: "/:exportCluster/:export/clusters/:cluster",
    wildcard: true,
    locate: (cluster, { user }) => located(cluster, user),
    authorize: access.authorize,
    resources: ({ params }) => resources.of(exportOf(params)),
    ready: () => model.synced(),
    setup: () => {
      const held = model.hold();
      return {
        [Symbol.asyncDispose]: async () => {
          await Promise.all([held[Symbol.asyncDispose](), resources[Symbol.asyncDispose]()]);
          await access[Symbol.asyncDispose]();
        },
      };
    },
  });
}

function warn(error: unknown): void {
  process.emitWarning(`view of APIExports: ${String(error)}`);
}

/**
 * Returns the identity for upstream requests: for all logical clusters the view's own, for one of them the caller's with a warrant
 * for an administrator there. The view has authorized the provider, so the workspace's rules do not apply; audit, field owners and
 * admission see the provider.
 */
function throughExport(identity: OutboundIdentity): Exclude<OutboundIdentity, string> {
  // What depends on nothing but the caller, who is immutable, is kept.
  const known = identity === "impersonate" || identity === sameCaller ? new WeakMap<Identity, Warranted>() : undefined;
  return (caller, scope) => {
    if (scope === undefined || scope.cluster === WILDCARD) return undefined;
    const { cluster } = scope;
    const last = known?.get(caller);
    if (last?.cluster === cluster) return last.as;
    const as = asCaller(identity, caller, scope);
    if (as === undefined) return undefined;
    const made = warranted(as, cluster);
    if (caller instanceof User) known?.set(caller, { cluster, as: made });
    return made;
  };
}

/** User of the last request of a caller. */
interface Warranted {
  readonly cluster: string;
  readonly as: Impersonation;
}

function asCaller(
  identity: OutboundIdentity,
  caller: Identity,
  scope: Parameters<Exclude<OutboundIdentity, string>>[1],
): Impersonation | undefined {
  if (identity === "none") return undefined;
  return identity === "impersonate" ? impersonated(caller) : identity(caller, scope);
}

/** Returns an immutable user. */
function warranted(as: Impersonation, cluster: string): Impersonation {
  const { name, uid = "", groups = [], extra = {} } = as;
  const { extra: more } = withWarrant({ name, uid, groups, extra }, contentWarrant(cluster));
  const values = Object.entries(more).map(([key, texts]) => [key, Object.freeze([...texts])] as const);
  return Object.freeze({ ...as, groups: Object.freeze([...groups]), extra: Object.freeze(Object.fromEntries(values)) });
}
