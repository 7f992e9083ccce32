import { ApiError, type ObjectOf, type StatusCause } from "@virtual-workspaces/apimachinery";
import {
  type AccessStatus,
  type Authorizer,
  type Log,
  type RequestInfo,
  type Scope,
  type Storage,
  type SubjectAccessContent,
  type SubjectAccessSpec,
  User,
  type WriteOptions,
} from "@virtual-workspaces/framework";
import { localReviewProblems, reviewProblems, selfReviewProblems } from "./access-problems.ts";
import { failureOf } from "./failure.ts";

/** What access reviews ask. */
export interface AccessReviewOptions {
  /** Who decides about requests, in the logical cluster that the review is created in. */
  readonly authorizer: Authorizer<Readonly<Record<string, string>>>;
  /** Says who decides instead, for one who asks so: kcp's deep SubjectAccessReview. @default nobody */
  readonly instead?: (options: WriteOptions, scope: Scope) => AccessReviewOptions["authorizer"] | undefined;
  /** Where failures of the authorizer are written. */
  readonly log: Log;
}

/**
 * Says whether somebody may do something (SubjectAccessReview): what the authorizer says of a user with this name, uid,
 * extras, and these groups and no others, `system:authenticated` neither. The reason is kcp's `access granted` or `access
 * denied`, whatever the authorizer's is: that would tell of rules that the asker need not know.
 */
export class SubjectAccessReviews implements Storage<ObjectOf<SubjectAccessContent>> {
  /** No review is kept. */
  readonly lifecycle = "storage";
  readonly #options: AccessReviewOptions;

  constructor(options: AccessReviewOptions) {
    this.#options = options;
  }

  /** @throws ApiError 422 */
  async create(
    scope: Scope,
    review: ObjectOf<SubjectAccessContent>,
    options: WriteOptions,
  ): Promise<ObjectOf<SubjectAccessContent>> {
    const { apiVersion, kind, spec = {} } = review;
    this.refuse(review, scope);
    return { apiVersion, kind, metadata: this.metadata(scope), spec, status: await this.#status(scope, spec, options) };
  }

  /** @throws ApiError on a review that asks nothing sensible */
  protected refuse(review: ObjectOf<SubjectAccessContent>, _scope: Scope): void {
    refuseInvalid("SubjectAccessReview", reviewProblems(review));
  }

  /** Of the answer. */
  protected metadata(_scope: Scope): ObjectOf<SubjectAccessContent>["metadata"] {
    return {};
  }

  /** Who is asked about. */
  protected subject({ user = "", uid = "", groups = [], extra = {} }: SubjectAccessSpec, _options: WriteOptions): User {
    return new User({ name: user, uid, groups, extra });
  }

  async #status(scope: Scope, spec: SubjectAccessSpec, options: WriteOptions): Promise<AccessStatus> {
    const user = this.subject(spec, options);
    const question = { ...infoOf(spec), user, params: scope.params, signal: options.signal };
    try {
      const { authorizer, instead } = this.#options;
      const decision = await (instead?.(options, scope) ?? authorizer)(question);
      if (decision.allowed === true) return { allowed: true, reason: "access granted" };
      return { allowed: false, ...(decision.final === true && { denied: true }), reason: "access denied" };
    } catch (error) {
      const evaluationError = failureOf(error, options, this.#options.log);
      return { allowed: false, reason: "access denied", evaluationError };
    }
  }
}

/** Says whether somebody may do something in a namespace (LocalSubjectAccessReview), to those who may ask only there. */
export class LocalSubjectAccessReviews extends SubjectAccessReviews {
  protected override refuse(review: ObjectOf<SubjectAccessContent>, { namespace }: Scope): void {
    if ((review.metadata.namespace ?? namespace) !== namespace)
      throw ApiError.badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
    refuseInvalid("LocalSubjectAccessReview", localReviewProblems(review, namespace));
  }

  protected override metadata({ namespace }: Scope): ObjectOf<SubjectAccessContent>["metadata"] {
    return { namespace };
  }
}

/** Says whether the caller may do something (SelfSubjectAccessReview), in the same words. */
export class SelfSubjectAccessReviews extends SubjectAccessReviews {
  protected override refuse(review: ObjectOf<SubjectAccessContent>, _scope: Scope): void {
    refuseInvalid("SelfSubjectAccessReview", selfReviewProblems(review));
  }

  protected override subject(_spec: SubjectAccessSpec, { user }: WriteOptions): User {
    return user;
  }
}

function refuseInvalid(kind: string, causes: readonly StatusCause[]): void {
  if (causes.length === 0) return;
  throw ApiError.invalid({ kind: { group: "authorization.k8s.io", kind }, name: "", causes: [...causes] });
}

/** The question as the review asks it, in the version and namespace that it names: nothing is looked up. */
function infoOf({ resourceAttributes: about, nonResourceAttributes: path = {} }: SubjectAccessSpec): RequestInfo {
  const info = {
    isResource: about !== undefined,
    verb: (about ?? path).verb ?? "",
    path: about === undefined ? (path.path ?? "") : "",
    group: about?.group ?? "",
    version: about?.version ?? "",
    resource: about?.resource ?? "",
    identity: "",
    subresource: about?.subresource ?? "",
    namespace: about?.namespace ?? "",
    name: about?.name ?? "",
    longRunning: false,
    upgrade: false,
  };
  return info;
}
