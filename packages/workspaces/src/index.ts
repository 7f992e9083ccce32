/**
 * API for views and controllers over workspaces, beside `@virtual-workspaces/framework`: the client, forwarding to the
 * workspace server, and kcp's kinds. The packages that these names come from document them and have more.
 *
 * @module
 */

export {
  ApiError,
  CLUSTER_ANNOTATION,
  isApiError,
  type KindReference,
  type KubeObject,
  type ObjectKey,
  type ObjectOf,
  WILDCARD,
} from "@virtual-workspaces/apimachinery";
export {
  Client,
  type ClientOptions,
  Controller,
  type ControllerOptions,
  controller,
  endpointInformers,
  Informer,
  type InformerOptions,
  loadKubeconfig,
  ownerKeys,
  type ReconcileContext,
  type ReconcileFailure,
  type ReconcileResult,
  related,
  terminal,
} from "@virtual-workspaces/client";
export {
  type ForwardOptions,
  forward,
  Relay,
  type RelayOptions,
  relay,
  subjectAccessReview,
  type Transform,
  tokenReview,
  type Workspaces,
} from "@virtual-workspaces/forwarding";
export {
  APIBinding,
  APIExport,
  APIExportEndpointSlice,
  APIResourceSchema,
  clusterOf,
  clusterURL,
  crdManifest,
  exportManifests,
  LogicalCluster,
  lifecycleController,
  type Manifests,
  type Permissions,
  type PublishURLsOptions,
  publishURLs,
  ROOT_CLUSTER,
  Shard,
  viewURL,
  Workspace,
  WorkspaceType,
} from "@virtual-workspaces/kcp";
