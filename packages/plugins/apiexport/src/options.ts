import type { Workspaces } from "@virtual-workspaces/forwarding";
import type { Resource } from "@virtual-workspaces/framework";
import type { Upstream } from "@virtual-workspaces/transport";

/** What {@link apiExportView} is over. */
export interface ApiExportViewOptions extends Workspaces {
  /**
   * The server that has kcp's cache (`/services/cache`), where exports and their schemas are read: those of all shards, since
   * a workspace of one may bind what is exported on another (`--cache-kubeconfig`). @default `upstream`
   */
  readonly cache?: Upstream;
  /**
   * The server that is asked what callers may do in the workspace of an export, which may be on another shard
   * (`--external-logical-cluster-admin-kubeconfig`). Asked as a member of `system:masters`, else policies of other exports
   * are not honoured: it then refuses what they are about. @default `upstream`
   */
  readonly reviews?: Upstream;
  /**
   * Kinds of Kubernetes with schema, columns and protobuf, for claims on them: `builtInKinds` of the workspace server. One that
   * is missing is served without: objects of it may be anything here, and the server that has them decides; typed Go clients,
   * which send protobuf, are refused. @default none
   */
  readonly kinds?: readonly Resource[];
  /** How long callers are believed to be allowed what they were, ms. @default 10000 */
  readonly allowCache?: number;
  /** Told when the server cannot be followed or asked, and of schemas that cannot be served. @default a process warning */
  readonly onError?: (error: unknown) => void;
}
