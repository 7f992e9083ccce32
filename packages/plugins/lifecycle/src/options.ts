import type { Workspaces } from "@virtual-workspaces/forwarding";
import type { Upstream } from "@virtual-workspaces/transport";
import type { WorkspaceTypes } from "./workspace-types.ts";

/** Where WorkspaceTypes are read. */
export interface WorkspaceTypesOptions extends Pick<Workspaces, "upstream"> {
  /**
   * The server that has kcp's cache (`/services/cache`), where the types of all shards are read: a workspace of one may be of
   * a type of another (`--cache-kubeconfig`). @default `upstream`
   */
  readonly cache?: Upstream;
  /**
   * The server that has the logical clusters of all shards: asked what callers may do in the workspace of a type, and for a type
   * that the cache has not heard of yet (`--external-logical-cluster-admin-kubeconfig`). @default `upstream`
   */
  readonly reviews?: Upstream;
  /** Told when a server cannot be followed or asked. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/** What {@link initializingWorkspacesView} and those beside it are over: the workspaces of one shard. */
export interface LifecycleViewOptions extends WorkspaceTypesOptions {
  /** The types, where views share them: followed once, and kept once. @default the view's own, of `upstream` and `cache` */
  readonly types?: WorkspaceTypes;
  /** How long callers are believed to be allowed what they were, ms. @default 10000 */
  readonly allowCache?: number;
}
