import { type AuthorizeRequest, type Authorizer, type Decision, deny } from "@virtual-workspaces/framework";
import type { MatchConditions } from "@virtual-workspaces/framework/resource";
import type { UpstreamOptions } from "@virtual-workspaces/transport";
import { attributesOf, questionOf } from "./access-attributes.ts";
import { subjectAccessReview, subjectOf } from "./access-review.ts";
import type { ReviewOptions } from "./review-options.ts";
import type { ReviewStats } from "./verdicts.ts";

/** Options of {@link authorizationWebhook}. The caches' defaults are Kubernetes': 5 minutes and 30 seconds. */
export interface AuthorizationWebhookOptions extends ReviewOptions {
  /** The webhook: its URL with the path, and this server's credentials for it. */
  readonly upstream: UpstreamOptions;
  /** Version of the reviews (`--authorization-webhook-version`). @default "v1" */
  readonly version?: "v1" | "v1beta1";
  /**
   * Decision when the webhook does not answer, gives an invalid answer, or a condition fails. `NoOpinion` leaves it to other
   * authorizers: without one that allows, the request gets 503 or 500. `Deny`: 403, whatever others say.
   * @default "NoOpinion"
   */
  readonly failurePolicy?: "NoOpinion" | "Deny";
  /** Conditions for requests that the webhook gets, over `request`, the `spec` of the review. @default all requests */
  readonly conditions?: MatchConditions;
  /** Called once for each failed review, and for each failed condition. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/** Authorizer that calls a webhook. Dispose of it after the server that uses it. */
export interface AuthorizationWebhook extends Authorizer<unknown>, AsyncDisposable {
  readonly stats: ReviewStats;
}

/**
 * Creates an authorizer that sends SubjectAccessReviews to a webhook, as Kubernetes' authorization mode `Webhook`. A webhook that
 * neither allows nor denies (`allowed: false` without `denied: true`) has no opinion, and other authorizers decide. Callers see
 * its reason, as in Kubernetes.
 *
 * Security: the webhook gets name, groups, uid and extra of every caller, and what each requests. Decisions are cached, so a
 * revoked permission applies for up to `allowCache`.
 *
 * @throws Error for options out of range
 * @see docs/how-to/authorization.md
 */
export function authorizationWebhook(options: AuthorizationWebhookOptions): AuthorizationWebhook {
  const { upstream, failurePolicy = "NoOpinion", conditions, onError = warn } = options;
  const { origin, pathname } = new URL(upstream.url);
  const review = subjectAccessReview<unknown>({
    ...{ allowCache: 300_000, denyCache: 30_000 },
    ...options,
    onError,
    upstream: { ...upstream, url: origin },
    cluster: () => "",
    path: pathname.replace(/(.)\/$/, "$1"), // as Kubernetes requests it
    showReason: true,
  });
  const failed = (error: unknown): Decision => {
    if (failurePolicy === "NoOpinion") throw error;
    return { allowed: false, reason: "", final: true };
  };
  const decide = (request: AuthorizeRequest<unknown>): Decision | Promise<Decision> => {
    if (conditions !== undefined && !conditions.isEmpty) {
      try {
        if (!conditions.hold({ request: specOf(request) })) return deny("");
      } catch (cause) {
        const error = new Error(`cannot evaluate match conditions: ${(cause as Error).message}`, { cause });
        onError(error);
        return failurePolicy === "Deny" ? failed(error) : deny("");
      }
    }
    const decision = review(request);
    return decision instanceof Promise ? decision.catch(failed) : decision;
  };
  const authorizer = Object.assign(decide, {
    rules: review.rules as NonNullable<Authorizer<unknown>["rules"]>,
    [Symbol.asyncDispose]: () => review[Symbol.asyncDispose](),
  });
  return Object.defineProperty(authorizer, "stats", { get: () => review.stats }) as AuthorizationWebhook;
}

/** Returns the spec of a review, as conditions see it. */
function specOf(request: AuthorizeRequest<unknown>): object {
  return { ...questionOf(attributesOf(request)), ...subjectOf(request.user) };
}

function warn(error: unknown): void {
  process.emitWarning(`authorization webhook failed: ${String(error)}`);
}
