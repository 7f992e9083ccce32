import type { Located } from "@virtual-workspaces/framework/resource";
import type { Workspace } from "@virtual-workspaces/kcp";
import type { PathIndex } from "@virtual-workspaces/kcp/path-index";
import type { ShardPeer } from "./shard-peer.ts";

/** What finds a Workspace: the shard registry. */
interface WorkspaceLookup {
  readonly index: Pick<PathIndex, "lookup">;
  shardWith(cluster: string): Pick<ShardPeer, "state"> | undefined;
}

/** Which Workspace with a mount a request is for, in the logical cluster around it. */
export interface MountedWorkspace {
  readonly cluster: string;
  readonly name: string;
  /** What the path says behind it, `foo:bar`, or "". */
  readonly below: string;
}

/**
 * The Workspace with a mount that a path leads to or through, whatever has become of it: the index knows only those that are
 * Ready, or were. What is behind it is its own affair.
 */
export function mountAt(registry: WorkspaceLookup, path: string): MountedWorkspace | undefined {
  const names = path.split(":");
  for (let at = 1; at < names.length; at++) {
    const found = registry.index.lookup(names.slice(0, at).join(":"));
    if (found.kind !== "cluster") continue;
    const place = { cluster: found.cluster, name: names[at] ?? "", below: names.slice(at + 1).join(":") };
    const workspace = workspaceAt(registry, place);
    if (workspace !== undefined && isMounted(workspace)) return place;
  }
  return undefined;
}

/** The Workspace of that name as it is now. */
export function workspaceAt(
  registry: WorkspaceLookup,
  { cluster, name }: Pick<MountedWorkspace, "cluster" | "name">,
): Workspace | undefined {
  return registry.shardWith(cluster)?.state.workspaces.store.get({ cluster, namespace: "", name });
}

/** Whether a mount is all that a Workspace leads to: a logical cluster comes first, as in kcp. */
export function isMounted({ spec }: Workspace): boolean {
  return spec.mount !== undefined && !spec.cluster;
}

/** As `locate` of a view says it. */
export function asLocated({ cluster, name, below }: MountedWorkspace): Located {
  return { cluster, params: { mount: name, below } };
}

/** What {@link asLocated} has said; `undefined` of a request that is for a logical cluster. */
export function mountedWorkspaceOf(params: object): MountedWorkspace | undefined {
  const { cluster = "", mount, below = "" } = params as Readonly<Record<string, string>>;
  return mount === undefined ? undefined : { cluster, name: mount, below };
}
