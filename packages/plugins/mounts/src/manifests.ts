import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { type ExportManifestsOptions, exportManifests, Mount } from "@virtual-workspaces/kcp";
import { mountPolicies } from "./policies.ts";

/** What {@link mountManifests} is given. */
export interface MountManifestsOptions extends Pick<ExportManifestsOptions, "mayBind"> {
  /**
   * Whether there are policies besides by which whoever writes a Mount must be able to get its Secret: for a kcp. The workspace server has that rule
   * itself, and no such policies. @default false
   */
  readonly policies?: boolean;
}

/**
 * What must be there for {@link mountsView} to have mounts, in `root`: the APIExport `proxy.kcp.io` with the kind Mount. It claims nothing
 * of the workspaces that bind it: the view reads Secrets as an administrator of the shard, and those alone that Mounts name.
 */
export function mountManifests({ policies = false, ...options }: MountManifestsOptions = {}): KubeObject[] {
  return [
    ...exportManifests({ name: Mount.group, resources: [Mount], ...options }),
    ...(policies ? mountPolicies() : []),
  ];
}
