import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import { Namespace } from "../kinds/namespace.ts";
import { findNamespace, type NamespaceSources } from "../state/namespace-lookup.ts";
import type { ShardState } from "../state/shard-state.ts";

/** Namespaces that cannot be deleted unless the logical cluster is. */
const IMMORTAL: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);

/** Sources of namespaces and of their logical clusters. */
export interface NamespaceLifecycleOptions extends NamespaceSources {
  readonly state: Pick<ShardState, "namespaces" | "logicalCluster">;
}

/**
 * Admits creation in namespaces and deletion of namespaces (kcp's `WorkspaceNamespaceLifecycle`). Creation is rejected with
 * 404 in a missing namespace and with 403 in one under deletion.
 */
export function namespaceLifecycle(options: NamespaceLifecycleOptions): Admit {
  return async (request) => {
    if (request.operation === "DELETE") refuseImmortal(request, options);
    if (request.operation !== "CREATE" || request.definition.scope !== "Namespaced") return;
    const { namespace = "", name } = request.object?.metadata ?? {};
    const there = await findNamespace(request.params["cluster"] ?? "", namespace, options);
    if (there === undefined) throw ApiError.notFound(groupResourceOf(Namespace), namespace);
    if (there.metadata.deletionTimestamp === undefined && there.status?.phase !== "Terminating") return;
    throw terminating(request, { namespace, name });
  };
}

function refuseImmortal(
  { definition, oldObject, params }: AdmitRequest,
  { state }: Pick<NamespaceLifecycleOptions, "state">,
): void {
  const { name = "" } = oldObject?.metadata ?? {};
  if (definition.group !== "" || definition.plural !== "namespaces" || !IMMORTAL.has(name)) return;
  const cluster = state.logicalCluster(params["cluster"] ?? "");
  if (cluster?.metadata.deletionTimestamp !== undefined) return;
  throw ApiError.forbidden({
    resource: groupResourceOf(definition),
    name,
    message: "this namespace may not be deleted",
  });
}

function terminating(
  { definition }: AdmitRequest,
  { namespace, name }: { readonly namespace: string; readonly name: string | undefined },
): ApiError {
  return ApiError.forbidden({
    resource: groupResourceOf(definition),
    name,
    message: `unable to create new content in namespace ${namespace} because it is being terminated`,
    causes: [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  });
}
