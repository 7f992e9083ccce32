import { type ResourceId, workspacePath } from "../api/base.ts";
import { liveList } from "../api/live-list.ts";
import type { KubernetesObject } from "../api/types.ts";

interface ApiBinding extends KubernetesObject {
  readonly status?: {
    readonly boundResources?: readonly {
      readonly group: string;
      readonly resource: string;
      readonly schema?: { readonly identityHash?: string };
    }[];
  };
}

const bindingsOf = (workspace: string) =>
  liveList<ApiBinding>(`${workspacePath(workspace)}/apis/apis.kcp.io/v1alpha2/apibindings`).value;

/** Groups that kcp binds in each workspace. */
const OF_KCP = /^(tenancy|topology|core|shards\.core)\.kcp\.io$/;

/** Groups of the resources that a workspace binds, other than those of kcp itself. To be read while a component is rendered. */
export function boundGroups(workspace: string): ReadonlySet<string> {
  const bound = bindingsOf(workspace).items.flatMap(({ status }) => status?.boundResources ?? []);
  return new Set(bound.map(({ group }) => group).filter((group) => !OF_KCP.test(group)));
}

/**
 * Identity of the export from which a workspace binds a resource. Paths over all workspaces need it. `""` for a resource that is
 * not bound, and undefined until that is known.
 */
export function identityOf(workspace: string, { group, resource }: ResourceId): string | undefined {
  const list = bindingsOf(workspace);
  for (const { status } of list.items)
    for (const bound of status?.boundResources ?? [])
      if (bound.group === group && bound.resource === resource) return bound.schema?.identityHash ?? "";
  return list.state === "loading" ? undefined : "";
}
