import type { Located } from "@virtual-workspaces/framework/resource";
import type { Workspace } from "@virtual-workspaces/kcp";
import type { PathIndex } from "@virtual-workspaces/kcp/path-index";
import type { ShardPeer } from "./shard-peer.ts";

/** Lookup of Workspaces, implemented by the shard registry. */
interface WorkspaceLookup {
  readonly index: Pick<PathIndex, "lookup">;
  shardWith(cluster: string): Pick<ShardPeer, "state"> | undefined;
}

/** Workspace with a mount that a request is for, and the logical cluster of that Workspace. */
export interface MountedWorkspace {
  readonly cluster: string;
  readonly name: string;
  /** Rest of the path below it: `foo:bar` or "". */
  readonly below: string;
}

/**
 * Returns the Workspace with a mount at a path or on the way to it, in any phase: the path index has only those that are or
 * were Ready. The mount's target interprets the rest.
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

/** Returns the current Workspace of that name. */
export function workspaceAt(
  registry: WorkspaceLookup,
  { cluster, name }: Pick<MountedWorkspace, "cluster" | "name">,
): Workspace | undefined {
  return registry.shardWith(cluster)?.state.workspaces.store.get({ cluster, namespace: "", name });
}

/** Whether a Workspace leads only to a mount: a logical cluster takes precedence, as in kcp. */
export function isMounted({ spec }: Workspace): boolean {
  return spec.mount !== undefined && !spec.cluster;
}

/** Returns the mounted workspace as a view's `locate` does. */
export function asLocated({ cluster, name, below }: MountedWorkspace): Located {
  return { cluster, params: { mount: name, below } };
}

/** Returns the value of {@link asLocated}; `undefined` for a request for a logical cluster. */
export function mountedWorkspaceOf(params: object): MountedWorkspace | undefined {
  const { cluster = "", mount, below = "" } = params as Readonly<Record<string, string>>;
  return mount === undefined ? undefined : { cluster, name: mount, below };
}
