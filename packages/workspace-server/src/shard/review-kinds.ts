import type { Authenticator, Authorizer, Log, ServedResource } from "@virtual-workspaces/framework";
import type { ShardAuthorizer } from "../authz/authorizer.ts";
import { LocalSubjectAccessReviews, SubjectAccessReviews } from "../service-accounts/reviews/access-reviews.ts";
import { LocalSubjectAccessReview, SubjectAccessReview, TokenReview } from "../service-accounts/reviews/kinds.ts";
import { TokenReviews } from "../service-accounts/reviews/token-reviews.ts";

/** What reviews ask. */
export interface ReviewKindsOptions {
  readonly authenticators: readonly Authenticator[];
  readonly audiences: readonly string[];
  readonly authorizer: ShardAuthorizer;
  readonly log: Log;
}

/** The reviews of others; those of oneself are the framework's. */
export function reviewKinds({
  authenticators,
  audiences,
  authorizer,
  log,
}: ReviewKindsOptions): readonly ServedResource[] {
  const reviews = { authorizer: authorizer.review as unknown as Authorizer<Readonly<Record<string, string>>>, log };
  return [
    TokenReview.serve(new TokenReviews({ authenticators, audiences, log })),
    SubjectAccessReview.serve(new SubjectAccessReviews(reviews)),
    LocalSubjectAccessReview.serve(new LocalSubjectAccessReviews(reviews)),
  ];
}
