// What a view is written with.

export type { Authenticator } from "./authn/authenticator.ts";
export { type ClientCertificateOptions, clientCertificates } from "./authn/client-certificates.ts";
export { staticTokens, type TokenUser } from "./authn/static-tokens.ts";
// Who may do what.
export { type AuthorizeRequest, type Authorizer, allow, authenticated, type Decision, deny } from "./authorization.ts";
export {
  CLUSTER_ANNOTATION,
  Collection,
  type CollectionOptions,
  type CollectionPart,
  type ObjectDetails,
  type SetValue,
} from "./collection.ts";
export type { CoreOptions } from "./core.ts";
// Storages of one's own.
export { decodeObject, type Encoded, encodeObject, type SelectableField } from "./encoded.ts";
export { type VirtualWorkspacesMiddleware, virtualWorkspaces } from "./express.ts";
export type { Log, LogRecord } from "./log.ts";
export type { PathParams } from "./path.ts";
export type { RequestInfo } from "./request-info.ts";
export {
  type ColumnSpec,
  type ContentOf,
  defineResource,
  Resource,
  type ResourceDefinition,
  type ResourceOptions,
} from "./resource.ts";
export type { ObjectOf } from "./resource-schema.ts";
export type { ServedResource, ServeOptions, Verb } from "./served.ts";

// Where it is served.
export {
  createServer,
  type Listening,
  type ListenOptions,
  Server,
  type ServerOptions,
  type TlsOptions,
} from "./server.ts";
export type * from "./storage.ts";
export { AUTHENTICATED, authenticatedUser, type Identity, User } from "./user.ts";
export type { Reader, ReaderPlace } from "./view/reader.ts";
export {
  type InputReaders,
  type Mapped,
  SOURCE_VERSION_ANNOTATION,
  View,
  type ViewContext,
  type ViewOptions,
  type ViewSource,
  view,
} from "./view/view.ts";
export {
  defineVirtualWorkspace,
  type RawRequest,
  type VirtualWorkspace,
  type WorkspaceRequest,
} from "./virtual-workspace.ts";
export {
  type CacheListener,
  type CacheOptions,
  type HistoryOptions,
  type Snapshot,
  WatchCache,
} from "./watch/cache.ts";
export { CacheEvent, type EventType } from "./watch/event.ts";
export { Minter } from "./watch/minter.ts";
