import type { Workspaces } from "@virtual-workspaces/forwarding";
import type { Resource } from "@virtual-workspaces/framework";
import type { Upstream } from "@virtual-workspaces/transport";
import type { ApiModel, ApiModelOptions } from "./model/api-model.ts";

/** Options of {@link apiResourceSchemaView}. */
export interface ApiResourceSchemaViewOptions extends ApiModelOptions {
  /** Cache of bindings and exports, if several views share one. @default the view's own, for `upstream` and `cache` */
  readonly model?: ApiModel;
  /** Time for which a positive authorization is cached, in ms. @default 10000 */
  readonly allowCache?: number;
}

/** Options of {@link replicationView}. */
export interface ReplicationViewOptions extends ApiResourceSchemaViewOptions {
  /**
   * Server that reaches the logical clusters of all shards by name (`--external-logical-cluster-admin-kubeconfig`): it has the
   * objects of providers, and authorizes callers in the workspace of an export. Security: the client needs `system:masters`.
   * @default `upstream`: then exports and objects of other shards are missing
   */
  readonly everywhere?: Upstream;
}

/** Options of {@link apiExportView}. */
export interface ApiExportViewOptions extends Workspaces, ApiResourceSchemaViewOptions {
  /**
   * Server that authorizes callers in the workspace of an export, on any shard (`--external-logical-cluster-admin-kubeconfig`).
   * Security: the client needs `system:masters`. Otherwise the policies of other exports cannot be checked, and their claims are
   * rejected.
   * @default `upstream`
   */
  readonly reviews?: Upstream;
  /**
   * Kubernetes kinds with schema, columns and protobuf, for claims: `builtInKinds` of the workspace server. A missing kind is
   * served without them: this server accepts any object, and the upstream decides. Of a kind whose protobuf the framework does
   * not know either, typed Go clients are rejected.
   * @default none
   */
  readonly kinds?: readonly Resource[];
}
