import type { Source } from "@virtual-workspaces/client";
import type { ClaimIndex } from "../bindings/claims/claim-index.ts";
import { ClaimLabelKeeper } from "../bindings/claims/label-keeper.ts";
import { GarbageCollector } from "../garbage/collector.ts";
import { Namespace } from "../kinds/core/namespace.ts";
import { ClusterRoleBinding } from "../kinds/rbac/kinds.ts";
import { NamespaceContents } from "../namespaces/defaults.ts";
import { NamespaceDeletion } from "../namespaces/deletion.ts";
import { Leftovers } from "../namespaces/leftovers.ts";
import { workspaceParts } from "../workspaces/workspace-parts.ts";
import type { ShardContext, ShardPart } from "./context.ts";
import type { StoredKind } from "./stored-kinds.ts";
import { workspaceContent } from "./workspace-content.ts";

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
