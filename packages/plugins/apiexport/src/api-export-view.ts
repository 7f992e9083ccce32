import { WILDCARD } from "@virtual-workspaces/apimachinery";
import type { Impersonation } from "@virtual-workspaces/client/http";
import { impersonated, type OutboundIdentity } from "@virtual-workspaces/forwarding";
import { defineVirtualWorkspace, type Identity, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { contentWarrant, withWarrant } from "@virtual-workspaces/kcp/users";
import { exportAccess, exportOf, located } from "./access.ts";
import { ApiModel } from "./model/api-model.ts";
import type { ApiExportViewOptions } from "./options.ts";
import { ExportResources } from "./served/export-resources.ts";
import { claimableResources, SchemaKinds } from "./served/kinds.ts";

/**
 * kcp's view of APIExports, `/services/apiexport/<logical cluster of the export>/<export>/clusters/<logical cluster or *>`: what
 * the workspaces of one shard that have bound an export have of it, what they let its provider have besides, and their
 * bindings. For the provider, who need not be known in those workspaces: whoever may have `apiexports/content` of the export
 * reads all of it at once, and reads and writes what is in one workspace.
 *
 * Over the workspaces of a shard, asked as one of its administrators. Lists, watches and writes pass as bytes. One watch of
 * the server serves all who watch a resource of all workspaces. Ready once exports, schemas and bindings have been read.
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
 * As whom the server is asked: of all logical clusters at once as the view itself, in one of them as the caller, with a
 * warrant for an administrator there. So rules of the workspace do not keep the provider out, which the view has let in,
 * and all else is about the provider: audit, owners of fields, admission.
 */
function throughExport(asked: OutboundIdentity): Exclude<OutboundIdentity, string> {
  return (caller, scope) => {
    if (scope === undefined || scope.cluster === WILDCARD) return undefined;
    const as = asCaller(asked, caller, scope);
    return as && warranted(as, scope.cluster);
  };
}

function asCaller(
  asked: OutboundIdentity,
  caller: Identity,
  scope: Parameters<Exclude<OutboundIdentity, string>>[1],
): Impersonation | undefined {
  if (asked === "none") return undefined;
  return asked === "impersonate" ? impersonated(caller) : asked(caller, scope);
}

function warranted(as: Impersonation, cluster: string): Impersonation {
  const { name, uid = "", groups = [], extra = {} } = as;
  return { ...as, extra: withWarrant({ name, uid, groups, extra }, contentWarrant(cluster)).extra };
}
