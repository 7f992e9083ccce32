import type { Workspaces } from "@virtual-workspaces/forwarding";
import type { Resource } from "@virtual-workspaces/framework";
import type { Upstream } from "@virtual-workspaces/transport";
import type { ApiModel, ApiModelOptions } from "./model/api-model.ts";

/** What {@link apiResourceSchemaView} is over. */
export interface ApiResourceSchemaViewOptions extends ApiModelOptions {
  /**
   * What is bound and exported there, where several views share it: followed once, and kept once. @default the view's own, of
   * `upstream` and `cache`
   */
  readonly model?: ApiModel;
  /** How long callers are believed to be allowed what they were, ms. @default 10000 */
  readonly allowCache?: number;
}

/** What {@link apiExportView} is over. */
export interface ApiExportViewOptions extends Workspaces, ApiResourceSchemaViewOptions {
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
}
