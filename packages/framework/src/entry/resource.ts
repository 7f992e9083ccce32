/**
 * Kinds beyond `defineResource`: versions of a kind, Protobuf, validation rules, and how a resource is advertised.
 *
 * @module
 */

export type { ProtobufField, ProtobufMessage, ProtobufScalar } from "../body/protobuf/message.ts";
export { PROTOBUF_METADATA } from "../body/protobuf/meta.ts";
export type { ComposedExpressions, Evaluation, EvaluationInput, ExpressionAuthorizer } from "../cel/composed.ts";
export { BudgetError } from "../cel/cost/budget.ts";
export type { CompiledExpression, CompilerOptions, Expression, WantedType } from "../cel/expression.ts";
export type { AccessAnswer, AccessCheck, RequestResource } from "../cel/functions/authorizer.ts";
export { LazyExpressions, type VariableType } from "../cel/lazy-expressions.ts";
export { conditionsHold, MatchConditions } from "../cel/match-conditions.ts";
export {
  groupResourceOf,
  type KindVersion,
  KindVersions,
  type ScalePaths,
  type SelectableField,
  type Strategy,
} from "../definition.ts";
export type { MetadataForm } from "../encode/representation.ts";
export type { DiscoveredVerbs, ForwardingHandlers, ForwardingOptions, ServeOptions } from "../resource/served.ts";
export type { AdvertisedSubresource } from "../resource/subresources.ts";
export type { AskedResource, Located } from "../virtual-workspace.ts";
export { asDefined } from "../write/kind.ts";
export { schemaProblems } from "../write/schema-rules.ts";
