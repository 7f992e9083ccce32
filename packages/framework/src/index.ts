/**
 * Writing and serving views: kinds, collections, views, authorization, virtual workspaces and the server.
 *
 * @module
 */
export { CLUSTER_ANNOTATION, type ObjectOf, type SpecOf, type StoredObject } from "@virtual-workspaces/apimachinery";
export type { Authenticator } from "./authn/authenticator.ts";
export { staticTokens } from "./authn/bearer-tokens.ts";
export { type AuthorizeRequest, type Authorizer, allow, type Decision, deny } from "./authz/authorization.ts";
export { authenticated, byNamespace, groups, readOnly } from "./authz/groups.ts";
export { union } from "./authz/union.ts";
export type { ResourceDefinition, Subresources, TypedDefinition, Verb } from "./definition.ts";
export { polled } from "./polled/define-polled.ts";
export { Polled } from "./polled/polled.ts";
export type { PolledOptions, ReadContext, SourceWriteContext, WritablePolledOptions } from "./polled/polled-options.ts";
export { WritablePolled } from "./polled/writable-polled.ts";
export type { PathParams } from "./request/path.ts";
export type { RawRequest, WorkspaceRequest } from "./request/raw-request.ts";
export { type Identity, User } from "./request/user.ts";
export { Collection, type CollectionOptions } from "./resource/collection/collection.ts";
export type { SourceObject } from "./resource/collection/replacement.ts";
export type { ServedResource } from "./resource/served.ts";
export type {
  ConnectMethod,
  ConnectSubresource,
  KindSubresource,
  NamedSubresource,
  SubresourceAnswer,
  SubresourceRequest,
  SubresourceWrite,
} from "./resource/subresources.ts";
export {
  type ColumnSpec,
  type ContentOf,
  defineResource,
  type FieldPath,
  type FieldSpec,
  type NamedField,
  Resource,
  type ResourceOptions,
} from "./resource.ts";
export { createServer, Server, type ServerOptions } from "./server.ts";
export { objectName } from "./util/object-name.ts";
export { SOURCE_VERSION_ANNOTATION } from "./view/annotations.ts";
export { Converted, type ConvertedOptions, converted } from "./view/converted/converted.ts";
export { Merged, merged } from "./view/merged/merged.ts";
export type {
  MergedOptions,
  MergedSource,
  PartialAnswers,
  PlacedSource,
  SourceCondition,
} from "./view/merged/merged-options.ts";
export { View, view } from "./view/view.ts";
export type {
  FollowedDependency,
  InputReaders,
  Mapped,
  MapToSourceContext,
  Reader,
  ReaderPlace,
  ViewContext,
  ViewDependency,
  ViewOptions,
  ViewSource,
  WritableSource,
  WritableViewOptions,
} from "./view/view-options.ts";
export { WritableView } from "./view/writable-view.ts";
export {
  defineVirtualWorkspace,
  type SetupContext,
  type SetupResult,
  type ViewDocument,
  type VirtualWorkspace,
} from "./virtual-workspace.ts";
export type { Admit, AdmitCheck, AdmitRequest } from "./write/write-request.ts";
