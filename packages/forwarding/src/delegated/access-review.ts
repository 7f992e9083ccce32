import { hash } from "node:crypto";
import { ApiError, WILDCARD } from "@virtual-workspaces/apimachinery";
import {
  type AuthorizeRequest,
  type Authorizer,
  type Decision,
  deny,
  type Identity,
  type User,
} from "@virtual-workspaces/framework";
import type { Upstream, UpstreamOptions } from "@virtual-workspaces/transport";
import { type AccessAttributes, attributesOf, questionOf } from "./access-attributes.ts";
import { decisionOf } from "./access-status.ts";
import { prefixOf } from "./cluster-prefix.ts";
import { opened, type ReviewOptions, resolved } from "./options.ts";
import { ReviewFailure } from "./review-failure.ts";
import { Reviewer } from "./reviewer.ts";
import type { ReviewStats } from "./stats.ts";
import { subjectOf } from "./subject.ts";
import { Verdicts } from "./verdicts.ts";

/** Who decides, and about what. */
export interface SubjectAccessReviewOptions<Params = unknown> extends ReviewOptions {
  /**
   * The API server that decides, asked with its own `credentials`, never the caller's: they need the ClusterRole
   * `system:auth-delegator` there, and can find out what anybody may do. One made of options is closed with the authorizer,
   * one that is given is not. A function finds one of several for each request: it gives the same as long as it is the same
   * server, since what one said is remembered apart from what others say.
   */
  readonly upstream: Upstream | UpstreamOptions | ((request: AuthorizeRequest<Params>) => Upstream);
  /**
   * The logical cluster in which it is asked, by name or path; "" for the upstream's URL as it is; `undefined`: refused. The
   * same user may do other things in other clusters: whoever returns one takes the answer of that one.
   *
   * @default `params.cluster`, "" for a view without one; all at once (`*`) is refused
   */
  readonly cluster?: (request: AuthorizeRequest<Params>) => string | undefined;
  /**
   * What is asked about instead of the request itself: for a view whose content follows what may be done to one object, say.
   * Label and field selectors are only asked about where they are given here. `undefined`: refused, and nobody is asked.
   */
  readonly attributes?: (request: AuthorizeRequest<Params>) => AccessAttributes | undefined;
  /**
   * Who is asked about instead of the caller: an identity that stands for them. It is asked for each request: for the same
   * caller it gives the same, at least as long as verdicts are remembered. @default the caller
   */
  readonly subject?: (user: User) => Identity;
  /** Sent with each review, as pairs, for a server whose reviews can be asked for in more than one way. @default none */
  readonly headers?: readonly string[];
  /** Whether the caller is told the reason of a no, cut to 500 characters. Rules and bindings may be named in it. @default false */
  readonly showReason?: boolean;
  /**
   * How often open watches are asked about again, ms; a no ends them with 410. `Infinity`: never, as in Kubernetes.
   *
   * @default half of `allowCache`, 1000 at least
   */
  readonly watchesEvery?: number;
  /** Told of each review that came to nothing, once however many waited for it. @default a process warning */
  readonly onError?: (error: unknown) => void;
}

/** An authorizer that asks another server. Dispose of it after the server that uses it. */
export interface SubjectAccessReviewAuthorizer<Params = unknown> extends Authorizer<Params>, AsyncDisposable {
  readonly stats: ReviewStats;
}

/**
 * Lets another API server decide (Kubernetes' delegated authorization, `--authorization-kubeconfig`): its
 * SubjectAccessReview says whether the caller may do what they are about to do. One review holds the whole caller: name,
 * uid, all groups and extra. Equal questions at a time are one review, verdicts are remembered, yes and no apart.
 *
 * What is not a clear yes is a no. A no is 403, without saying why unless `showReason`; one that the other server says is
 * final (`denied`) is so in a `union` too. A server that cannot be asked is 503, one that answers something else 500; in a
 * union another's yes still counts. What is remembered goes on while it is away, for `allowCache` at most. A caller who
 * leaves ends the review, unless somebody else waits for it.
 *
 * For a rules review it lists nothing and says that this is incomplete, as Kubernetes' webhook does: a review answers one
 * question, and there would be hundreds.
 *
 * @throws Error on options that are out of range
 */
export function subjectAccessReview<Params = unknown>(
  options: SubjectAccessReviewOptions<Params>,
): SubjectAccessReviewAuthorizer<Params> {
  const settings = resolved("subject access review", options);
  const every = options.watchesEvery ?? Math.max(1_000, Math.ceil(settings.allowCache / 2));
  if (!(every >= 100)) throw new Error(`subject access review: watchesEvery must be 100 ms or more; it is ${every}`);
  const { upstream: given } = options;
  const single = typeof given === "function" ? undefined : opened(given);
  const onError = options.onError ?? warn;
  const asking = new Asking<Params>(options, {
    upstreamOf:
      single === undefined ? (given as (request: AuthorizeRequest<Params>) => Upstream) : () => single.upstream,
    reviewer: new Reviewer(settings),
    verdicts: new Verdicts({ ...settings, isYes: ({ allowed }) => allowed, onError }),
  });
  const authorizer = Object.assign((request: AuthorizeRequest<Params>) => asking.decide(request), {
    rules: () => NO_RULES,
    watchesEvery: every,
    [Symbol.asyncDispose]: async () => single?.[Symbol.asyncDispose](),
  });
  return Object.defineProperty(authorizer, "stats", { get: () => asking.stats }) as typeof authorizer & {
    readonly stats: ReviewStats;
  };
}

const NO_RULES = Object.freeze({
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  evaluationError: "another server decides here, which answers single questions only",
});

function warn(error: unknown): void {
  process.emitWarning(`subject access review failed: ${String(error)}`);
}

interface Means<Params> {
  readonly upstreamOf: (request: AuthorizeRequest<Params>) => Upstream;
  readonly reviewer: Reviewer;
  readonly verdicts: Verdicts<Decision>;
}

/** Puts requests as questions. */
class Asking<Params> {
  readonly #options: SubjectAccessReviewOptions<Params>;
  readonly #means: Means<Params>;
  /** Users are immutable and shared between requests, and a list of groups is long: each is hashed once. */
  readonly #subjects = new WeakMap<User, string>();
  readonly #upstreams = new WeakMap<Upstream, number>();
  #seen = 0;

  constructor(options: SubjectAccessReviewOptions<Params>, means: Means<Params>) {
    this.#options = options;
    this.#means = means;
  }

  get stats(): ReviewStats {
    return { ...this.#means.verdicts.stats, ...this.#means.reviewer.stats };
  }

  decide(request: AuthorizeRequest<Params>): Decision | Promise<Decision> {
    const { cluster: clusterOf = clusterIn, attributes: asked = attributesOf } = this.#options;
    const cluster = clusterOf(request);
    if (cluster === undefined) return deny("nobody decides here about all logical clusters at once");
    const attributes = asked(request);
    if (attributes === undefined) return deny("this is not served here");
    const { verdicts } = this.#means;
    const upstream = this.#means.upstreamOf(request);
    const question = { upstream, prefix: prefixOf(cluster), user: request.user, about: questionOf(attributes) };
    const key = this.#keyOf(question);
    return verdicts.known(key) ?? this.#find(key, question, request.signal);
  }

  async #find(key: string, question: Question, signal: AbortSignal): Promise<Decision> {
    try {
      return await this.#means.verdicts.find(key, (over) => this.#review(question, over), signal);
    } catch (error) {
      if (error instanceof ReviewFailure && error.transient) throw unavailable();
      throw error;
    }
  }

  async #review({ upstream, prefix, user, about }: Question, signal: AbortSignal): Promise<Decision> {
    const { headers = [], subject = itself } = this.#options;
    const spec = { ...about, ...subjectOf(subject(user)) };
    const status = await this.#means.reviewer.ask({ ...REVIEW, upstream, prefix, spec, headers }, signal);
    return decisionOf(status, { from: upstream.url, showReason: this.#options.showReason ?? false });
  }

  #keyOf({ upstream, prefix, user, about }: Question): string {
    return hash("sha256", JSON.stringify([this.#subject(user), this.#number(upstream), prefix, about]), "base64");
  }

  #subject(user: User): string {
    let subject = this.#subjects.get(user);
    if (subject === undefined) {
      subject = hash("sha256", JSON.stringify(subjectOf(user)), "base64");
      this.#subjects.set(user, subject);
    }
    return subject;
  }

  #number(upstream: Upstream): number {
    let number = this.#upstreams.get(upstream);
    if (number === undefined) {
      this.#seen += 1;
      number = this.#seen;
      this.#upstreams.set(upstream, number);
    }
    return number;
  }
}

interface Question {
  readonly upstream: Upstream;
  readonly prefix: string;
  readonly user: User;
  readonly about: object;
}

const REVIEW = {
  group: "authorization.k8s.io",
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
} as const;

function clusterIn({ params }: AuthorizeRequest<unknown>): string | undefined {
  const { cluster = "" } = (params ?? {}) as { readonly cluster?: string };
  return cluster === WILDCARD ? undefined : cluster;
}

function itself(user: User): Identity {
  return user;
}

function unavailable(): ApiError {
  return ApiError.serviceUnavailable("who may do this cannot be found out for now: try again", 1);
}
