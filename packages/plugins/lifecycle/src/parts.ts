import { WILDCARD } from "@virtual-workspaces/apimachinery";
import type { AuthorizeRequest } from "@virtual-workspaces/framework";
import { LogicalCluster } from "@virtual-workspaces/kcp";
import type { Phase } from "./phase.ts";
import type { LifecycleParams } from "./waiting.ts";

/** What one can ask for without asking for anything of the workspace. */
const ROOTS: ReadonlySet<string> = new Set(["/", "/healthz"]);

/**
 * Whether a request is about what a workspace has, and not about its LogicalCluster, or all that wait: three parts under one root, as
 * in kcp (`wildcard-logicalclusters`, `logicalclusters`, `workspace-content`).
 */
export function isContent({ tellsOfItself }: Phase, request: AuthorizeRequest<LifecycleParams>): boolean {
  const { params, isResource, group, resource, path } = request;
  if (params.cluster === WILDCARD) return false;
  if (isResource) return group !== LogicalCluster.group || resource !== LogicalCluster.plural;
  return !tellsOfItself || ROOTS.has(path);
}
