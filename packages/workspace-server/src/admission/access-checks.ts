import type { AuthorizeRequest, Decision } from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import type { AccessAnswer, AccessCheck } from "@virtual-workspaces/framework/resource";
import { CLUSTER_NAME_EXTRA } from "@virtual-workspaces/kcp/users";
import type { ShardAuthorizer } from "../authz/authorizer.ts";
import type { ClusterParams } from "../authz/cluster-request.ts";
import { groupsOf, userNameOf } from "../tokens/claims.ts";
import type { Attributes } from "../webhooks/attributes.ts";

/** Answer while a decision is not known yet; the expression is evaluated again. */
const UNKNOWN: AccessAnswer = { allowed: false, reason: "", error: "" };

/**
 * Checks of access that expressions of policies ask for, in the logical cluster of the request. Expressions are evaluated at
 * once, and a decision may take time: an expression that needs an unknown decision is evaluated again when it is known. Each
 * check is decided once for a request, as in Kubernetes.
 */
export class AccessChecks {
  readonly #authorizer: Pick<ShardAuthorizer, "review">;
  readonly #attributes: Attributes;
  readonly #known = new Map<string, AccessAnswer>();
  readonly #pending = new Map<string, Promise<AccessAnswer>>();

  constructor(authorizer: Pick<ShardAuthorizer, "review">, attributes: Attributes) {
    this.#authorizer = authorizer;
    this.#attributes = attributes;
  }

  /** Evaluates until all decisions are known. Each evaluation must begin again from the start. */
  async settled<T>(evaluate: () => T): Promise<T> {
    for (;;) {
      let result: { readonly value: T } | { readonly error: unknown };
      try {
        result = { value: evaluate() };
      } catch (error) {
        result = { error };
      }
      if (this.#pending.size > 0) {
        for (const [key, answer] of this.#pending) this.#known.set(key, await answer);
        this.#pending.clear();
      } else if ("error" in result) throw result.error;
      else return result.value;
    }
  }

  /** Answers a check. */
  readonly ask = (check: AccessCheck): AccessAnswer => {
    const key = JSON.stringify(check);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const decided = this.#decide(check);
    if (!(decided instanceof Promise)) {
      this.#known.set(key, decided);
      return decided;
    }
    this.#pending.set(key, decided);
    return UNKNOWN;
  };

  #decide(check: AccessCheck): AccessAnswer | Promise<AccessAnswer> {
    try {
      const decision = this.#authorizer.review(this.#question(check));
      return decision instanceof Promise ? decision.then(answerOf, failure) : answerOf(decision);
    } catch (error) {
      return failure(error);
    }
  }

  #question(check: AccessCheck): AuthorizeRequest<ClusterParams> {
    const { request, cluster } = this.#attributes;
    const { verb, path, serviceAccount, group, resource, subresource, namespace, name } = check;
    const user =
      serviceAccount === undefined
        ? request.user
        : authenticatedUser({
            name: userNameOf(serviceAccount),
            groups: groupsOf(serviceAccount),
            extra: { [CLUSTER_NAME_EXTRA]: [cluster] },
          });
    return {
      isResource: path === "",
      ...{ verb, path, group, version: "*", identity: "", resource, subresource, namespace, name },
      ...{ longRunning: false, upgrade: false },
      user,
      params: { cluster },
      signal: request.signal,
    };
  }
}

function answerOf(decision: Decision): AccessAnswer {
  return { allowed: decision.allowed, reason: decision.allowed ? "" : decision.reason, error: "" };
}

function failure(error: unknown): AccessAnswer {
  return { allowed: false, reason: "", error: error instanceof Error ? error.message : String(error) };
}
