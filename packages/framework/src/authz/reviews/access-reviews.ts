import {
  ApiError,
  fieldInvalid,
  formatTime,
  type KubeObject,
  type ObjectOf,
  OMITTED_VALUE,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { pathInfo, type RequestInfo } from "../../request/request-info.ts";
import type { User } from "../../request/user.ts";
import type { ServedResource } from "../../resource/served.ts";
import type { RequestOptions, Scope, Storage, WriteOptions } from "../../storage.ts";
import type { AccessContent, AccessStatus, ReviewedUser } from "./content.ts";
import { SelfSubjectAccessReview } from "./kinds.ts";
import { askerOf, type Questions, resourceInfo } from "./questions.ts";

type Review = ObjectOf<AccessContent>;
type Spec = NonNullable<AccessContent["spec"]>;

/** Answers whether a user may do something, with the decision that the request itself would get. */
export class AccessReviews implements Storage<Review> {
  readonly lifecycle = "storage";
  readonly #questions: Questions;

  constructor(questions: Questions) {
    this.#questions = questions;
  }

  async create(scope: Scope, review: Review, options: WriteOptions): Promise<Review> {
    const { apiVersion, kind, spec = {} } = review;
    const causes = problemsOf(review);
    if (causes.length > 0) throw ApiError.invalid({ kind: SelfSubjectAccessReview, name: "", causes });
    return { apiVersion, kind, metadata: {}, spec, status: await this.#status(scope, spec, options) };
  }

  /** The reason equals that of the 403. No other authorizer follows, so a denial is final: `denied`. */
  async #status(scope: Scope, spec: Spec, options: RequestOptions): Promise<AccessStatus> {
    const asker = askerOf(scope, options);
    try {
      const list = await this.#questions.served(asker);
      const decision = await this.#questions.decide(asker, infoOf(spec, list), list);
      if (decision.allowed) return { allowed: true };
      const { reason } = decision;
      return { allowed: false, denied: true, ...(reason === "" ? {} : { reason }) };
    } catch (error) {
      return { allowed: false, evaluationError: this.#questions.failure(error, options) };
    }
  }
}

function infoOf({ resourceAttributes, nonResourceAttributes }: Spec, list: readonly ServedResource[]): RequestInfo {
  if (resourceAttributes !== undefined) return resourceInfo(resourceAttributes, list);
  const { verb = "", path = "" } = nonResourceAttributes ?? {};
  return pathInfo(verb, path);
}

/** Validates a review, with Kubernetes' texts. */
function problemsOf({ metadata, spec = {} }: Review): readonly StatusCause[] {
  const found: StatusCause[] = [];
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined)
    found.push(
      fieldInvalid(
        "spec.nonResourceAttributes",
        nonResourceAttributes,
        "cannot be specified in combination with resourceAttributes",
      ),
    );
  if (resourceAttributes === undefined && nonResourceAttributes === undefined)
    found.push(
      fieldInvalid(
        "spec.resourceAttributes",
        null,
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
      ),
    );
  const { managedFields: _, ...given } = metadata;
  if (Object.keys(given).length > 0) found.push(fieldInvalid("metadata", OMITTED_VALUE, "must be empty"));
  return found;
}

/**
 * Storage of `SelfSubjectReview`: returns the effective user of the request. For views that serve the reviews themselves, so
 * that their own rule decides who may use them.
 */
export class SelfReviews implements Storage {
  /** Reviews are not stored. */
  readonly lifecycle = "storage";

  /** Returns the user of the request with all extras. */
  create(_scope: Scope, { apiVersion, kind }: KubeObject, { user }: WriteOptions): KubeObject {
    const metadata = { creationTimestamp: formatTime(new Date()) };
    return { apiVersion, kind, metadata, status: { userInfo: reviewedUser(user) } };
  }
}

/** Converts a user to Kubernetes' `UserInfo`; empty fields are omitted. */
export function reviewedUser({ name, uid, groups, extra }: User): ReviewedUser {
  return {
    username: name,
    ...(uid === "" ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}
