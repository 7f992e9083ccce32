import { ApiError, type ObjectOf } from "@virtual-workspaces/apimachinery";
import type { RulesContent, Scope, Storage, WriteOptions } from "@virtual-workspaces/framework";
import type { ClusterParams } from "../authz/cluster-request.ts";
import type { ShardAuthorizer } from "../authz/authorizer.ts";

type Review = ObjectOf<RulesContent>;

/**
 * Says what the caller may do in a namespace (SelfSubjectRulesReview), by the roles of the logical cluster and those that
 * hold in all: as in kcp without regard to maximal permission policies.
 */
export class SelfSubjectRulesReviews implements Storage<Review> {
  /** No review is kept. */
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
