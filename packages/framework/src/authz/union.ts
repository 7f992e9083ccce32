import {
  type AuthorizeRequest,
  type Authorizer,
  type Decision,
  type DecisionAnnotations,
  decide,
  deny,
  type Rules,
  type RulesRequest,
} from "./authorization.ts";

/**
 * Calls authorizers in order. The first that allows decides and the rest are skipped, as in Kubernetes' union authorizer. If
 * all deny, the result is a denial with all reasons. A thrown error counts as no opinion, so that one broken source does not
 * lock out users whom another allows. If no authorizer allows, it is rethrown and answered 500, since a denial would be a
 * guess. A denial stops the search only if it is `final`. Open watches use the shortest interval of the members.
 *
 * @throws Error without an authorizer
 *
 * @example
 * ```ts
 * import { groups, union } from "@virtual-workspaces/framework";
 * import { rbac } from "@virtual-workspaces/framework/authz";
 *
 * const authorize = union(groups("system:masters"), rbac({ file: "roles.yaml" }));
 * ```
 * @see docs/how-to/authorization.md
 */
export function union<Params = unknown>(...authorizers: readonly Authorizer<NoInfer<Params>>[]): Authorizer<Params> {
  if (authorizers.length === 0) throw new Error("union: no authorizer given: give at least one");
  if (authorizers.some((one) => typeof one !== "function"))
    throw new Error("union: argument is not an authorizer: pass functions, as in union(groups(…), rbac({…}))");
  const members = [...authorizers];
  const poll = (request: AuthorizeRequest<Params>) => new Poll(members, request).from(0);
  const watchesEvery = Math.min(...members.map((one) => one.watchesEvery ?? Number.POSITIVE_INFINITY));
  const authorizer = Object.assign(poll, Number.isFinite(watchesEvery) ? { watchesEvery } : {});
  const resolvers = members.flatMap(({ rules }) => rules ?? []);
  if (resolvers.length < members.length) return authorizer;
  return Object.assign(authorizer, {
    rules: async (request: RulesRequest<Params>) =>
      merged(await Promise.allSettled(resolvers.map(async (rules) => rules(request)))),
  });
}

/** Authorization of one request by all members. Synchronous as long as the members are. */
class Poll<Params> {
  readonly #members: readonly Authorizer<Params>[];
  readonly #request: AuthorizeRequest<Params>;
  readonly #noes: (Decision & { readonly allowed: false })[] = [];
  readonly #errors: unknown[] = [];

  constructor(members: readonly Authorizer<Params>[], request: AuthorizeRequest<Params>) {
    this.#members = members;
    this.#request = request;
  }

  from(first: number): Decision | Promise<Decision> {
    for (let at = first; at < this.#members.length; at++) {
      const answer = this.#ask(this.#members[at] as Authorizer<Params>);
      if (answer instanceof Promise) return answer.then((settled) => settled ?? this.from(at + 1));
      if (answer !== undefined) return answer;
    }
    if (this.#errors.length === 1) throw this.#errors[0];
    if (this.#errors.length > 1) throw new AggregateError(this.#errors, this.#errors.map(String).join("; "));
    const reasons = this.#noes.flatMap(({ reason }) => (reason === "" ? [] : reason));
    return this.#told(deny([...new Set(reasons)].join("; ")));
  }

  /** Returns a decisive result: allowed, or a final denial. */
  #ask(member: Authorizer<Params>): Decision | undefined | Promise<Decision | undefined> {
    try {
      const decision = decide(member, this.#request);
      if (!(decision instanceof Promise)) return this.#heard(decision);
      return decision.then(
        (settled) => this.#heard(settled),
        (error: unknown) => this.#failed(error),
      );
    } catch (error) {
      return this.#failed(error);
    }
  }

  #heard(decision: Decision): Decision | undefined {
    if (decision.allowed || decision.final === true) return this.#told(decision);
    this.#noes.push(decision);
    return undefined;
  }

  /** Adds the audit annotations of all members that were called, if there are any. */
  #told(decision: Decision): Decision {
    const noted = this.#noes.filter((one) => "annotations" in one);
    if (noted.length === 0) return decision;
    return decision.allowed ? new NotedYes(decision, noted) : new NotedNo(decision, noted);
  }

  #failed(error: unknown): undefined {
    this.#errors.push(error);
  }
}

/** Reads annotations only when an event is written, which is rare. */
class Noted {
  readonly #noted: readonly Decision[];

  constructor(decision: Decision, before: readonly Decision[]) {
    this.#noted = [...before, decision];
  }

  get annotations(): DecisionAnnotations {
    return Object.assign({}, ...this.#noted.map(({ annotations }) => annotations));
  }
}

class NotedYes extends Noted {
  readonly allowed = true;
}

class NotedNo extends Noted {
  readonly allowed = false;
  readonly reason: string;
  readonly final: boolean;

  constructor(decision: Decision & { readonly allowed: false }, before: readonly Decision[]) {
    super(decision, before);
    this.reason = decision.reason;
    this.final = decision.final === true;
  }
}

/** Merges the rules of all members. Security: a member's error text is not for callers, so only the failure is listed. */
function merged(settled: readonly PromiseSettledResult<Rules>[]): Rules {
  const all = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = all.length < settled.length;
  const errors = [...all.flatMap(({ evaluationError }) => evaluationError ?? []), ...(failed ? [FAILED] : [])];
  return {
    resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
    nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
    incomplete: failed || all.some(({ incomplete }) => incomplete),
    ...(errors.length === 0 ? {} : { evaluationError: [...new Set(errors)].join("; ") }),
  };
}

const FAILED = "one of several authorizers could not list its rules";
