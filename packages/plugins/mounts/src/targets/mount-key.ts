import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { clusterOf, type Mount } from "@virtual-workspaces/kcp";

/** Which mount it is: by its own word, which a server of workspaces has seen to. */
export function mountKey(mount: Pick<Mount, "metadata">): ObjectKey {
  return { cluster: clusterOf(mount), namespace: "", name: mount.metadata.name ?? "" };
}
