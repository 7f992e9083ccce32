// What a view is written with.

export { CLUSTER_ANNOTATION, type ObjectOf } from "@virtual-workspaces/apimachinery";
export {
  groupResourceOf,
  type ResourceDefinition,
  type ScalePaths,
  type Strategy,
  type Subresources,
  type TypedDefinition,
  type Verb,
} from "./definition.ts";
export type { MetadataForm } from "./encode/representation.ts";
export type { PathParams } from "./request/path.ts";
export type { PassOn, PeerQuestion, Peers, RawRequest, WorkspaceRequest } from "./request/raw-request.ts";
export { Collection, type CollectionOptions } from "./resource/collection/collection.ts";
export type { Answer, CollectionPart, SetValue, Timing } from "./resource/collection/collection-part.ts";
export type { ObjectDetails } from "./resource/collection/object-details.ts";
export type { DiscoveredVerbs, PassedHandlers, PassOptions, ServedResource, ServeOptions } from "./resource/served.ts";
export type {
  AdvertisedSubresource,
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
  type FieldSpec,
  type NamedField,
  Resource,
  type ResourceOptions,
} from "./resource.ts";
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
  Reader,
  ReaderPlace,
  UnmapContext,
  ViewContext,
  ViewDependency,
  ViewOptions,
  ViewSource,
  WritableSource,
  WritableViewOptions,
} from "./view/view-options.ts";
export { WritableView } from "./view/writable-view.ts";
export {
  type AskedResource,
  defineVirtualWorkspace,
  type Located,
  type MetricDistribution,
  type MetricFamily,
  type MetricSample,
  type SetupContext,
  type ViewDocument,
  type VirtualWorkspace,
} from "./virtual-workspace.ts";
export type { Admit, AdmitCheck, AdmitRequest } from "./write/write-request.ts";

// Who may do what.

export { type AnonymousOptions, anonymous } from "./authn/anonymous.ts";
export type { Authenticator, ConnectionFacts } from "./authn/authenticator.ts";
export type { CaSource } from "./authn/authorities.ts";
export {
  bearerTokens,
  staticTokens,
  type TokenAuthenticator,
  type TokenUser,
  type TokenVerdict,
  type TokenVerifier,
  tokenFile,
} from "./authn/bearer-tokens.ts";
export { type ClientCertificateOptions, clientCertificates } from "./authn/client-certificates.ts";
export { callersTokenHeaders } from "./authn/headers.ts";
export {
  type AnonymousConfiguration,
  type AuthenticationConfiguration,
  authenticationConfiguration,
} from "./authn/jwt/configuration.ts";
export { JwtConfigurations, type JwtConfigurationsOptions } from "./authn/jwt/configurations.ts";
export { jwt } from "./authn/jwt/jwt.ts";
export type {
  ClaimMappings,
  ClaimOrExpression,
  ClaimValidationRule,
  ExtraMapping,
  JwtAuthenticator,
  JwtIssuer,
  JwtKeys,
  JwtSettings,
  PrefixedClaimOrExpression,
  UserValidationRule,
} from "./authn/jwt/jwt-options.ts";
export { type RequestHeaderOptions, requestHeader } from "./authn/request-header.ts";
export {
  type AuthorizeRequest,
  type Authorizer,
  allow,
  type Decision,
  type DecisionAnnotations,
  deny,
  type ImpersonationRequest,
  type ImpersonationRule,
  type NonResourceRule,
  type ResourceRule,
  type Rules,
  type RulesRequest,
} from "./authz/authorization.ts";
export { authenticated, groups, readOnly } from "./authz/groups.ts";
export { grantedRules, type RuleQuestion, ruleAllows } from "./authz/rbac/matches.ts";
export type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  RbacBinding,
  RbacKey,
  RbacObject,
  Role,
  RoleBinding,
  RoleRef,
  Subject,
} from "./authz/rbac/objects.ts";
export { type Grant, RbacPolicy } from "./authz/rbac/policy.ts";
export { type PolicyRequest, type RbacSource, rbac } from "./authz/rbac/rbac.ts";
export { type Named, subjectOf } from "./authz/rbac/subjects.ts";
export { reviewedUser, SelfReviews } from "./authz/reviews/access-reviews.ts";
export type {
  AccessContent,
  AccessStatus,
  Attributes,
  ReviewedUser,
  RulesContent,
  SubjectAccessContent,
  SubjectAccessSpec,
  TokenReviewContent,
  TokenReviewStatus,
} from "./authz/reviews/content.ts";
export {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  TokenReview,
} from "./authz/reviews/kinds.ts";
export { union } from "./authz/union.ts";
export type { ProtobufField, ProtobufMessage, ProtobufScalar } from "./body/protobuf/message.ts";
export { PROTOBUF_METADATA } from "./body/protobuf/meta.ts";
export { type ReadBodyOptions, readBody } from "./body/read.ts";
export { clientCertificate, connectionOf } from "./listener/connections.ts";
export {
  HOPS_HEADER,
  MOST_HOPS,
  pathInfo,
  type RequestInfo,
  type RequestTarget,
  requestInfo,
} from "./request/request-info.ts";
export { ANONYMOUS, AUTHENTICATED, authenticatedUser, type Identity, UNAUTHENTICATED, User } from "./request/user.ts";

// Where it is served.

export type { CoreOptions, ReadyCheck } from "./core.ts";
export { type VirtualWorkspacesMiddleware, virtualWorkspaces } from "./express.ts";
export type { StrangerLimits } from "./fairness/authentication-failures.ts";
export type { RequestLimits } from "./fairness/fairness-limits.ts";
export type {
  CertificateRequest,
  CertifiedSubject,
  ClientPurpose,
  KeyPair,
  Purpose,
  ServerPurpose,
} from "./listener/tls/generated/certificates.ts";
export {
  issue as issueCertificate,
  type NewSigningRequest,
  newSigningRequest,
  signRequest,
} from "./listener/tls/generated/certify.ts";
export {
  type GeneratedTls,
  type GeneratedTlsOptions,
  generatedTls,
  type UserCertificate,
} from "./listener/tls/generated/generated.ts";
export type { SniCertificate, TlsCertificate, TlsOptions } from "./listener/tls/tls-options.ts";
export type { RequestRecord } from "./observe/access.ts";
export { type Audit, type AuditOptions, audit } from "./observe/audit/audit.ts";
export type { AuditLevel, AuditPolicy, AuditResources, AuditRule, AuditStage } from "./observe/audit/check-policy.ts";
export { type JsonLog, type JsonLogOptions, jsonLog } from "./observe/log/json-log.ts";
export type { Log, LogRecord } from "./observe/log/log.ts";
export type { LineTarget, LogFileOptions } from "./observe/log/target.ts";
export { type Metrics, type MetricsOptions, metrics } from "./observe/metrics/metrics.ts";
export {
  createServer,
  type Listening,
  type ListenOptions,
  Server,
  type ServerOptions,
} from "./server.ts";
// Requests passed on.

export { type AskedUpstream, causeOfFault, lostWrite, upstreamFailure, upstreamFault } from "./proxy/failure.ts";
export { FailureStreaks } from "./proxy/failure-streaks.ts";
export { proxy, ReverseProxy } from "./proxy/proxy.ts";
export type { ProxyEngine, ProxyOptions } from "./proxy/proxy-options.ts";
export { Targets, type TargetsOptions } from "./proxy/targets.ts";
export { deriveRequest, type RequestChanges } from "./request/derive-request.ts";

// Storages of one's own.

export { type KindVersion, KindVersions, type SelectableField } from "./definition.ts";
export { type BytesContext, EncodedBytes } from "./encode/encoded-bytes.ts";
export { type ListParts, ListSplitter, type SplitterLimits } from "./encode/list-splitter.ts";
export type { ObjectBackend, Swapped, SwapTerms } from "./resource/collection/cache-backend.ts";
export { Registry, type RegistryOptions } from "./resource/collection/registry.ts";
export type {
  CacheLease,
  Change,
  ChangesOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  EncodedList,
  GetOptions,
  ItemList,
  ListRequest,
  ListResult,
  Past,
  PastChanges,
  PastRange,
  PatchOptions,
  RequestOptions,
  Scope,
  SentWrite,
  Storage,
  WriteOptions,
  Written,
} from "./storage.ts";
export type { Awaitable } from "./util/awaitable.ts";
export { decodeObject, type Encoded, encodeObject } from "./watch/cache/encoded.ts";
export { Minter, processMinter } from "./watch/cache/minter.ts";
export {
  CacheEvent,
  type CacheListener,
  type EventType,
  type Objects,
  type Position,
  type ReadableCache,
  type Snapshot,
} from "./watch/cache/readable-cache.ts";
export { type CacheOptions, type HistoryOptions, WatchCache } from "./watch/cache/watch-cache.ts";
export { SourceFeeds, type SourceFeedsOptions } from "./watch/feeds.ts";
export type { FeedSource, Versions } from "./watch/source.ts";
export { asDefined } from "./write/kind.ts";
export { schemaProblems } from "./write/schema-rules.ts";
