import type { Source } from "@virtual-workspaces/client";
import type { ClaimIndex } from "../bindings/claims/claim-index.ts";
import { ClaimLabelKeeper } from "../bindings/claims/label-controller.ts";
import { GarbageCollector } from "../garbage/collector.ts";
import { Namespace } from "../kinds/namespace.ts";
import { ClusterRoleBinding } from "../kinds/rbac.ts";
import { NamespaceContents } from "../service-accounts/namespace-contents.ts";
import { NamespaceDeletion } from "../namespaces/namespace-deletion.ts";
import { Leftovers } from "../namespaces/leftovers.ts";
import { workspaceParts } from "../workspaces/workspace-parts.ts";
import type { ShardContext, ShardPart } from "../state/context.ts";
import type { StoredKind } from "../state/stored-kinds.ts";
import { workspaceContent } from "../workspaces/logical-cluster/workspace-content.ts";

/** The controllers of a shard: the one list of them. */
export function parts(
  context: ShardContext,
  isBound: (cluster: string, kind: StoredKind) => boolean,
  claims: ClaimIndex,
): readonly ShardPart[] {
  const { clusterRoleBindings } = context.state.rbac;
  return [
    workspaceParts(context, {
      content: workspaceContent(context, isBound),
      namespaces: Namespace,
      roleBindings: { definition: ClusterRoleBinding, tracked: clusterRoleBindings as unknown as Source },
    }),
    new NamespaceContents(context),
    new NamespaceDeletion(context),
    new ClaimLabelKeeper(context, claims),
    new GarbageCollector(context),
    new Leftovers(context),
  ];
}
