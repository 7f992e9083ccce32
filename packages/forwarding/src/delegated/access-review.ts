import { hash } from "node:crypto";
import { ApiError, type JsonObject, WILDCARD } from "@virtual-workspaces/apimachinery";
import {
  type AuthorizeRequest,
  type Authorizer,
  allow,
  type Decision,
  deny,
  type Identity,
  type User,
} from "@virtual-workspaces/framework";
import type { Upstream, UpstreamOptions } from "@virtual-workspaces/transport";
import { type AccessAttributes, attributesOf, questionOf } from "./access-attributes.ts";
import { opened, prefixOf, type ReviewOptions, resolved } from "./review-options.ts";
import { Reviewer, ReviewFailure } from "./reviewer.ts";
import type { ReviewStats } from "./verdicts.ts";
import { Verdicts } from "./verdicts.ts";

/** The longest reason that is shown. */
const LONGEST = 500;
const DEEP = ["X-Kcp-Internal-Deep-SubjectAccessReview", "true"] as const;

const REVIEW = {
  group: "authorization.k8s.io",
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
} as const;

const NO_RULES = Object.freeze({
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  evaluationError: "another server decides here, which answers single questions only",
});

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
   * About whom it is asked, instead of the caller: kcp's `PrefixUser` for a maximal permission policy, say. Asked once for each
   * user: it looks at nothing else.
   *
   * @default the caller
   */
  readonly subject?: (user: User) => Identity;
  /**
   * Whether only the rules of the logical cluster count, and not whether the subject may enter it at all (kcp's deep
   * SubjectAccessReview, header `X-Kcp-Internal-Deep-SubjectAccessReview`): for questions about a workspace that whoever is asked
   * about need not be in, such as that of an exporter. A kcp heeds it of `system:masters` alone, of whom the upstream's
   * credentials must be; asked by anybody else it decides as if it were not there, and says no more often.
   *
   * @default false
   */
  readonly deep?: boolean;
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
 *
 * @example
 * ```ts
 * import { groups, union } from "@virtual-workspaces/framework";
 * import { subjectAccessReview } from "@virtual-workspaces/forwarding";
 *
 * const upstream = { url: "https://kcp.example.dev:6443" }; // with tls and credentials
 * const authorize = union(groups("system:masters"), subjectAccessReview({ upstream }));
 * ```
 * @see docs/how-to/delegation.md
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
  const reviewer = new AccessReviewer<Params>(options, {
    upstreamOf:
      single === undefined ? (given as (request: AuthorizeRequest<Params>) => Upstream) : () => single.upstream,
    reviewer: new Reviewer(settings),
    verdicts: new Verdicts({ ...settings, isYes: ({ allowed }) => allowed, onError }),
  });
  const authorizer = Object.assign((request: AuthorizeRequest<Params>) => reviewer.decide(request), {
    rules: () => NO_RULES,
    watchesEvery: every,
    [Symbol.asyncDispose]: async () => single?.[Symbol.asyncDispose](),
  });
  return Object.defineProperty(authorizer, "stats", { get: () => reviewer.stats }) as typeof authorizer & {
    readonly stats: ReviewStats;
  };
}

function warn(error: unknown): void {
  process.emitWarning(`subject access review failed: ${String(error)}`);
}

interface AccessReviewerParts<Params> {
  readonly upstreamOf: (request: AuthorizeRequest<Params>) => Upstream;
  readonly reviewer: Reviewer;
  readonly verdicts: Verdicts<Decision>;
}

interface AccessQuestion {
  readonly upstream: Upstream;
  readonly prefix: string;
  readonly subject: ReviewSubject;
  readonly about: object;
}

/** About whom. */
interface ReviewSubject {
  readonly named: object;
  readonly hash: string;
}

/** Puts requests as questions. */
class AccessReviewer<Params> {
  readonly #options: SubjectAccessReviewOptions<Params>;
  readonly #parts: AccessReviewerParts<Params>;
  /** Users are immutable and shared between requests, and a list of groups is long: each is hashed once. */
  readonly #subjects = new WeakMap<User, ReviewSubject>();
  readonly #upstreams = new WeakMap<Upstream, number>();
  #seen = 0;

  constructor(options: SubjectAccessReviewOptions<Params>, parts: AccessReviewerParts<Params>) {
    this.#options = options;
    this.#parts = parts;
  }

  get stats(): ReviewStats {
    return { ...this.#parts.verdicts.stats, ...this.#parts.reviewer.stats };
  }

  decide(request: AuthorizeRequest<Params>): Decision | Promise<Decision> {
    const { cluster: clusterOf = clusterIn, attributes: asked = attributesOf } = this.#options;
    const cluster = clusterOf(request);
    if (cluster === undefined) return deny("nobody decides here about all logical clusters at once");
    const attributes = asked(request);
    if (attributes === undefined) return deny("this is not served here");
    const { verdicts } = this.#parts;
    const upstream = this.#parts.upstreamOf(request);
    const subject = this.#subject(request.user);
    const question = { upstream, prefix: prefixOf(cluster), subject, about: questionOf(attributes) };
    const key = this.#keyOf(question);
    return verdicts.known(key) ?? this.#find(key, question, request.signal);
  }

  async #find(key: string, question: AccessQuestion, signal: AbortSignal): Promise<Decision> {
    try {
      return await this.#parts.verdicts.find(key, (over) => this.#review(question, over), signal);
    } catch (error) {
      if (error instanceof ReviewFailure && error.transient) throw unavailable();
      throw error;
    }
  }

  async #review({ upstream, prefix, subject, about }: AccessQuestion, signal: AbortSignal): Promise<Decision> {
    const spec = { ...about, ...subject.named };
    const headers = this.#options.deep === true ? DEEP : [];
    const status = await this.#parts.reviewer.ask({ ...REVIEW, upstream, prefix, spec, headers }, signal);
    return decisionOf(status, { from: upstream.url, showReason: this.#options.showReason ?? false });
  }

  #keyOf({ upstream, prefix, subject, about }: AccessQuestion): string {
    return hash("sha256", JSON.stringify([subject.hash, this.#number(upstream), prefix, about]), "base64");
  }

  #subject(user: User): ReviewSubject {
    let subject = this.#subjects.get(user);
    if (subject === undefined) {
      const named = subjectOf(this.#options.subject?.(user) ?? user);
      subject = { named, hash: hash("sha256", JSON.stringify(named), "base64") };
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

/** Somebody, as reviews name them: all in one. What is empty is left out, as Kubernetes does. */
function subjectOf({ name, uid, groups, extra }: Identity): object {
  return {
    user: name,
    ...(uid === "" ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

interface ReadTerms {
  readonly from: string;
  readonly showReason: boolean;
}

/** @throws ReviewFailure on a status that says neither yes nor no, or both */
function decisionOf(status: JsonObject, { from, showReason }: ReadTerms): Decision {
  const { allowed, denied = false, reason = "" } = status;
  const failure = (text: string): ReviewFailure =>
    new ReviewFailure(`${from}: a SubjectAccessReview was answered that decides nothing: ${text}`, {
      transient: false,
    });
  if (typeof allowed !== "boolean") throw failure("allowed is neither true nor false");
  if (typeof denied !== "boolean") throw failure("denied is neither true nor false");
  if (allowed && denied) throw failure("it is both allowed and denied");
  if (allowed) return allow();
  const text = showReason && typeof reason === "string" ? reason.slice(0, LONGEST) : "";
  return denied ? { allowed: false, reason: text, final: true } : { allowed: false, reason: text };
}

function clusterIn({ params }: AuthorizeRequest<unknown>): string | undefined {
  const { cluster = "" } = (params ?? {}) as { readonly cluster?: string };
  return cluster === WILDCARD ? undefined : cluster;
}

function unavailable(): ApiError {
  return ApiError.serviceUnavailable("who may do this cannot be found out for now: try again", 1);
}
