import { ApiError, type ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Admit, Authenticator, AuthorizeRequest, Authorizer, ServedResource } from "@virtual-workspaces/framework";
import {
  LocalSubjectAccessReview,
  type RulesContent,
  type RulesRequest,
  SelfReviews,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  TokenReview,
} from "@virtual-workspaces/framework/authz";
import type { Log } from "@virtual-workspaces/framework/server";
import type { Scope, Storage, WriteOptions } from "@virtual-workspaces/framework/storage";
import { DEEP_REVIEW_HEADER } from "@virtual-workspaces/kcp";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import type { ShardAuthorizer } from "../authz/authorizer.ts";
import type { ClusterParams } from "../authz/cluster-request.ts";
import { effectiveUsers } from "../authz/effective-users.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";
import { workspaceLogins } from "../state/workspace-logins.ts";
import { LocalSubjectAccessReviews, SelfSubjectAccessReviews, SubjectAccessReviews } from "./access-reviews.ts";
import { TokenReviews } from "./token-reviews.ts";

/** Options of the review kinds. */
export interface ReviewKindsOptions {
  readonly authenticators: readonly Authenticator[];
  readonly audiences: readonly string[];
  /** Authorizer of the shard. */
  readonly authorizer: ShardAuthorizer;
  readonly registry: ShardRegistry;
  /** Admission of all these kinds: webhooks judge them too, as in Kubernetes. */
  readonly admit: Admit;
  readonly log: Log;
}

type AnyAuthorizer = Authorizer<Readonly<Record<string, string>>>;

/**
 * Kinds that support only `create`: reviews of identities and of access. The self reviews are resources here too, instead of
 * the framework's, which every authenticated user may create: kcp allows them only where the user has access.
 */
export function reviewKinds(options: ReviewKindsOptions): readonly ServedResource[] {
  const { authenticators, audiences, registry, log, admit: all } = options;
  const served = { admit: all as never };
  const authorizer = ofEach(options);
  // Below `:cluster` the parameter is set; at the server's root it is missing, but only `system:masters` has access.
  const [own, review, deep] = [authorizer, authorizer.review, authorizer.deep] as unknown as AnyAuthorizer[];
  const reviews = { authorizer: review as AnyAuthorizer, log };
  const instead = (request: WriteOptions, { params }: Scope): AnyAuthorizer | undefined =>
    isDeepReview(request, params["cluster"] ?? "") ? deep : undefined;
  return [
    SelfSubjectReview.serve(new SelfReviews(), served),
    TokenReview.serve(new TokenReviews({ authenticators, logins: workspaceLogins(registry), audiences, log }), served),
    LocalSubjectAccessReview.serve(new LocalSubjectAccessReviews(reviews), served),
    SelfSubjectAccessReview.serve(new SelfSubjectAccessReviews({ authorizer: own as AnyAuthorizer, log }), served),
    SelfSubjectRulesReview.serve(new SelfSubjectRulesReviews(authorizer), served),
    SubjectAccessReview.serve(new SubjectAccessReviews({ ...reviews, instead }), served),
  ];
}

const NAMES: ReadonlySet<string> = new Set(
  [
    SelfSubjectReview,
    TokenReview,
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SelfSubjectRulesReview,
    SubjectAccessReview,
  ].map(({ group, plural }) => `${plural}.${group}`),
);

/** Whether a request creates one of these reviews. */
export function isReview({ isResource, group, resource, subresource }: AuthorizeRequest<unknown>): boolean {
  return isResource && subresource === "" && NAMES.has(`${resource}.${group}`);
}

/**
 * Calls the authorizer of the shard that has the logical cluster: only that shard knows the bindings there. In kcp each shard
 * answers by replicated data.
 */
function ofEach({
  authorizer: own,
  registry,
}: ReviewKindsOptions): Pick<ShardAuthorizer, "deep" | "review" | "rules"> & Authorizer<ClusterParams> {
  const by = ({ params }: { readonly params: ClusterParams }): ShardAuthorizer =>
    registry.shardWith(params.cluster ?? "")?.authorizer ?? own;
  return Object.assign((question: AuthorizeRequest<ClusterParams>) => by(question)(question), {
    deep: (question: AuthorizeRequest<ClusterParams>) => by(question).deep(question),
    review: (question: AuthorizeRequest<ClusterParams>) => by(question).review(question),
    rules: (question: RulesRequest<ClusterParams>) => by(question).rules(question),
  });
}

/** As in kcp, only members of `system:masters` may use the header. */
function isDeepReview({ headers = {}, user }: WriteOptions, cluster: string): boolean {
  if (headers[DEEP_REVIEW_HEADER.toLowerCase()] !== "true") return false;
  return effectiveUsers(user, cluster).some(({ groups }) => groups.includes(MASTERS_GROUP));
}

type Review = ObjectOf<RulesContent>;

/**
 * Lists the caller's rules in a namespace (SelfSubjectRulesReview), from roles of the logical cluster and global ones. As in
 * kcp, maximal permission policies are ignored.
 */
class SelfSubjectRulesReviews implements Storage<Review> {
  /** Reviews are not stored. */
  readonly lifecycle = "storage";
  readonly #rules: ShardAuthorizer["rules"];

  constructor({ rules }: Pick<ShardAuthorizer, "rules">) {
    this.#rules = rules;
  }

  /** @throws ApiError 400 without a namespace */
  create(scope: Scope, { apiVersion, kind, spec }: Review, { user, signal }: WriteOptions): Review {
    const { namespace = "" } = spec ?? {};
    if (namespace === "") throw ApiError.badRequest("no namespace on request");
    const params = scope.params as Readonly<Record<string, string>> & ClusterParams;
    return { apiVersion, kind, metadata: {}, spec: {}, status: this.#rules({ user, params, namespace, signal }) };
  }
}
