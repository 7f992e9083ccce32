import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { type ExportManifestsOptions, exportManifests, Mount } from "@virtual-workspaces/kcp";
import { type MountWebhook, mountWebhook } from "./admission/webhook.ts";

/** What {@link mountManifests} is given. */
export interface MountManifestsOptions extends Pick<ExportManifestsOptions, "mayBind"> {
  /**
   * Where a kcp asks whether whoever writes a Mount may get its Secret: without it whoever may write Mounts there has what the Secrets
   * open that are in their workspace. The workspace server has that rule itself. @default nobody is asked
   */
  readonly webhook?: MountWebhook;
}

/**
 * What must be there for {@link mountsView} to have mounts, in `root`: the APIExport `proxy.kcp.io` with the kind Mount. It claims nothing
 * of the workspaces that bind it: the view reads Secrets as an administrator of the shard, and those alone that Mounts name.
 *
 * @throws Error on a webhook that cannot be asked
 */
export function mountManifests({ webhook, ...options }: MountManifestsOptions = {}): KubeObject[] {
  return [
    ...exportManifests({ name: Mount.group, resources: [Mount], ...options }),
    ...(webhook === undefined ? [] : [mountWebhook(webhook)]),
  ];
}
