import {
  ApiError,
  fieldInvalid,
  isApiError,
  type ObjectOf,
  OMITTED_VALUE,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { type Authorizer, User } from "@virtual-workspaces/framework";
import type { AccessStatus, SubjectAccessContent, SubjectAccessSpec } from "@virtual-workspaces/framework/authz";
import type { RequestInfo } from "@virtual-workspaces/framework/request";
import type { Log } from "@virtual-workspaces/framework/server";
import type { RequestOptions, Scope, Storage, WriteOptions } from "@virtual-workspaces/framework/storage";

/** Options of access reviews. */
export interface AccessReviewOptions {
  /** Authorizer of requests in the logical cluster of the review. */
  readonly authorizer: Authorizer<Readonly<Record<string, string>>>;
  /** Returns another authorizer for a request that asks for it: kcp's deep SubjectAccessReview. @default none */
  readonly instead?: (options: WriteOptions, scope: Scope) => AccessReviewOptions["authorizer"] | undefined;
  /** Log of authorizer failures. */
  readonly log: Log;
}

/**
 * Reviews whether a user may do something (SubjectAccessReview). The authorizer decides for a user with exactly this name,
 * uid, extras and groups; not even `system:authenticated` is added. The reason is always kcp's `access granted` or `access
 * denied`. Security: the authorizer's own reason would reveal rules to the caller.
 */
export class SubjectAccessReviews implements Storage<ObjectOf<SubjectAccessContent>> {
  /** Reviews are not stored. */
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

  /** @throws ApiError on an invalid review */
  protected refuse(review: ObjectOf<SubjectAccessContent>, _scope: Scope): void {
    refuseInvalid("SubjectAccessReview", reviewProblems(review));
  }

  /** Metadata of the response. */
  protected metadata(_scope: Scope): ObjectOf<SubjectAccessContent>["metadata"] {
    return {};
  }

  /** User under review. */
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

/** Reviews whether a user may do something in a namespace (LocalSubjectAccessReview), for callers with rights only there. */
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

/** Reviews whether the caller may do something (SelfSubjectAccessReview). */
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

/** Returns the review's attributes with the version and namespace it names, without discovery. */
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

type Review = ObjectOf<SubjectAccessContent>;

/** Returns the faults of a SubjectAccessReview, with Kubernetes' texts. */
function reviewProblems({ metadata, spec = {} }: Review): readonly StatusCause[] {
  return [...specProblems(spec), ...metadataProblems(metadata)];
}

/** Returns the faults of a SelfSubjectAccessReview, which names no user. */
function selfReviewProblems({ metadata, spec = {} }: Review): readonly StatusCause[] {
  return [...attributeProblems(spec), ...metadataProblems(metadata)];
}

function metadataProblems({ managedFields: _, ...given }: Review["metadata"]): readonly StatusCause[] {
  return Object.keys(given).length === 0 ? [] : [fieldInvalid("metadata", OMITTED_VALUE, "must be empty")];
}

/** Returns the faults of a LocalSubjectAccessReview. @param namespace the namespace of its URL */
function localReviewProblems({ metadata, spec = {} }: Review, namespace: string): readonly StatusCause[] {
  const { managedFields: _, namespace: _own, ...given } = metadata;
  const problems = [...specProblems(spec)];
  if (Object.keys(given).length > 0)
    problems.push(fieldInvalid("metadata", OMITTED_VALUE, "must be empty except for namespace"));
  const { resourceAttributes, nonResourceAttributes } = spec;
  const asked = resourceAttributes?.namespace ?? "";
  if (resourceAttributes !== undefined && asked !== namespace)
    problems.push(fieldInvalid("spec.resourceAttributes.namespace", asked, "must match metadata.namespace"));
  if (nonResourceAttributes !== undefined)
    problems.push(
      fieldInvalid("spec.nonResourceAttributes", nonResourceAttributes, "disallowed on this kind of request"),
    );
  return problems;
}

type Spec = NonNullable<SubjectAccessContent["spec"]>;

function specProblems(spec: Spec): readonly StatusCause[] {
  const { user = "", groups = [] } = spec;
  const problems = attributeProblems(spec);
  if (user !== "" || groups.length > 0) return problems;
  return [...problems, fieldInvalid("spec.user", user, "at least one of user or group must be specified")];
}

function attributeProblems({ resourceAttributes, nonResourceAttributes }: Spec): readonly StatusCause[] {
  const problems: StatusCause[] = [];
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined)
    problems.push(
      fieldInvalid(
        "spec.nonResourceAttributes",
        nonResourceAttributes,
        "cannot be specified in combination with resourceAttributes",
      ),
    );
  if (resourceAttributes === undefined && nonResourceAttributes === undefined)
    problems.push(
      fieldInvalid(
        "spec.resourceAttributes",
        null,
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
      ),
    );
  return problems;
}

/** Returns the text of a review's failure for the caller: an ApiError's message, otherwise a reference to the log. */
export function failureOf(error: unknown, { requestId }: Pick<RequestOptions, "requestId">, log: Log): string {
  if (isApiError(error)) return error.message;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  log({ level: "error", message: "review failed", requestId, error: text });
  return `the review failed: see the server's log for request ${requestId}`;
}
