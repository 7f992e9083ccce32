import {
  type Authenticator,
  type Authorizer,
  type Log,
  type Scope,
  SelfReviews,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectRulesReview,
  type ServedResource,
  type WriteOptions,
} from "@virtual-workspaces/framework";
import { DEEP_REVIEW_HEADER, MASTERS_GROUP } from "@virtual-workspaces/kcp";
import type { ShardAuthorizer } from "../authz/authorizer.ts";
import { effectiveUsers } from "../authz/effective-users.ts";

import {
  LocalSubjectAccessReviews,
  SelfSubjectAccessReviews,
  SubjectAccessReviews,
} from "../service-accounts/reviews/access-reviews.ts";
import { LocalSubjectAccessReview, SubjectAccessReview, TokenReview } from "../service-accounts/reviews/kinds.ts";
import { SelfSubjectRulesReviews } from "../service-accounts/reviews/rules-reviews.ts";
import { TokenReviews } from "../service-accounts/reviews/token-reviews.ts";

/** What reviews ask. */
export interface ReviewKindsOptions {
  readonly authenticators: readonly Authenticator[];
  readonly audiences: readonly string[];
  readonly authorizer: ShardAuthorizer;
  readonly log: Log;
}

type AnyAuthorizer = Authorizer<Readonly<Record<string, string>>>;

/**
 * What is only created: who somebody is, and what they may do. The reviews of oneself are resources as well, and not the
 * framework's, which are for all who have logged in: in kcp one may ask only where one may enter.
 */
export function reviewKinds(options: ReviewKindsOptions): readonly ServedResource[] {
  const { authenticators, audiences, authorizer, log } = options;
  // Below `:cluster` there is always one; of the server's root there is none, and nobody but masters gets there.
  const [own, review, deep] = [authorizer, authorizer.review, authorizer.deep] as unknown as AnyAuthorizer[];
  const reviews = { authorizer: review as AnyAuthorizer, log };
  const instead = (request: WriteOptions, { params }: Scope): AnyAuthorizer | undefined =>
    asksDeeply(request, params["cluster"] ?? "") ? deep : undefined;
  return [
    SelfSubjectReview.serve(new SelfReviews()),
    TokenReview.serve(new TokenReviews({ authenticators, audiences, log })),
    LocalSubjectAccessReview.serve(new LocalSubjectAccessReviews(reviews)),
    SelfSubjectAccessReview.serve(new SelfSubjectAccessReviews({ authorizer: own as AnyAuthorizer, log })),
    SelfSubjectRulesReview.serve(new SelfSubjectRulesReviews(authorizer)),
    SubjectAccessReview.serve(new SubjectAccessReviews({ ...reviews, instead })),
  ];
}

/** Of others than masters the header is not looked at, as in kcp. */
function asksDeeply({ headers = {}, user }: WriteOptions, cluster: string): boolean {
  if (headers[DEEP_REVIEW_HEADER.toLowerCase()] !== "true") return false;
  return effectiveUsers(user, cluster).some(({ groups }) => groups.includes(MASTERS_GROUP));
}
