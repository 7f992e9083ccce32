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

/** Maximum length of a reason shown to callers. */
const LONGEST = 500;
/** Length of a key that is kept as it is. Callers choose paths and names, so longer ones are hashed; no hash begins with "[". */
const LONGEST_KEY = 256;
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
  evaluationError: "another server authorizes requests here and cannot list rules",
});

/** Options of {@link subjectAccessReview}. */
export interface SubjectAccessReviewOptions<Params = unknown> extends ReviewOptions {
  /**
   * API server that authorizes. Reviews use its own `credentials`, never the caller's. Security: they need the ClusterRole
   * `system:auth-delegator` there, and can find out what any user may do. The authorizer closes an upstream that it creates
   * from options, but not one that the caller passes. A function picks one of several per request. It must return the same
   * object for the same server, because verdicts are cached per upstream.
   */
  readonly upstream: Upstream | UpstreamOptions | ((request: AuthorizeRequest<Params>) => Upstream);
  /**
   * Returns the logical cluster to review in, by name or path; "" for the upstream's URL as is, `undefined` to deny.
   * Security: permissions differ between clusters, so the verdict of the returned cluster applies.
   *
   * @default `params.cluster`, "" for a view without one; all clusters at once (`*`) are denied
   */
  readonly cluster?: (request: AuthorizeRequest<Params>) => string | undefined;
  /**
   * Returns the attributes to review instead of the request's, such as access to an object that the view's content depends
   * on. Reviews have label and field selectors only if this returns them. `undefined` denies without a review.
   */
  readonly attributes?: (request: AuthorizeRequest<Params>) => AccessAttributes | undefined;
  /**
   * Returns the user to review instead of the caller, such as kcp's `PrefixUser` for a maximal permission policy. Called once
   * per user, so it must depend on the user only.
   *
   * @default the caller
   */
  readonly subject?: (user: User) => Identity;
  /**
   * Whether to apply only the logical cluster's rules, not whether the user may enter it (kcp's deep SubjectAccessReview,
   * header `X-Kcp-Internal-Deep-SubjectAccessReview`). For checks in a workspace that the user need not be in, such as an
   * exporter's. kcp accepts the header only from `system:masters`, which the upstream's credentials must be in. For others it
   * ignores the header, and denies more.
   *
   * @default false
   */
  readonly deep?: boolean;
  /**
   * Path of the reviews below the upstream's URL, such as that of a webhook.
   * @default `/apis/authorization.k8s.io/<version>/subjectaccessreviews`, in the logical cluster
   */
  readonly path?: string;
  /** Version of the reviews. Kubernetes' API servers serve `v1` only. @default "v1" */
  readonly version?: "v1" | "v1beta1";
  /** Whether to show callers the reason of a denial, cut to 500 characters. Security: it may name rules and bindings. @default false */
  readonly showReason?: boolean;
  /**
   * Interval at which open watches are authorized again, in ms. A denial ends them with 410. `Infinity` disables it, as in
   * Kubernetes.
   *
   * @default half of `allowCache`, at least 1000
   */
  readonly watchesEvery?: number;
  /**
   * Called once for each failed review, however many requests waited for it.
   * @default a process warning: once while the server is away, otherwise once until the reason changes or a review succeeds
   */
  readonly onError?: (error: unknown) => void;
}

/** Authorizer that sends reviews to another server. Dispose of it after the server that uses it. */
export interface SubjectAccessReviewAuthorizer<Params = unknown> extends Authorizer<Params>, AsyncDisposable {
  readonly stats: ReviewStats;
}

/**
 * Creates an authorizer that delegates to another API server (Kubernetes' delegated authorization,
 * `--authorization-kubeconfig`) through SubjectAccessReviews. A review holds the whole caller: name, uid, all groups and
 * extra. Concurrent equal checks share one review. Verdicts are cached, separately for allow and deny.
 *
 * Anything but a clear allow is a denial. A denial is 403, without a reason unless `showReason` is set; if the server marks
 * it as final (`denied`), it is final in a `union` too. An unavailable server causes 503, an invalid response 500; in a union
 * another authorizer may still allow. Cached verdicts stay valid while the server is away, for at most `allowCache`. If a
 * caller disconnects, its review ends unless other requests wait for it.
 *
 * For a rules review it returns an incomplete, empty list, like Kubernetes' webhook authorizer, because reviews answer only
 * single checks.
 *
 * @throws Error for options out of range
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
  if (!(every >= 100)) throw new Error(`subject access review: invalid watchesEvery "${every}": use at least 100 ms`);
  const { upstream: given } = options;
  const single = typeof given === "function" ? undefined : opened(given);
  const { onError = () => undefined } = options;
  const reviewer = new AccessReviewer<Params>(options, {
    upstreamOf:
      single === undefined ? (given as (request: AuthorizeRequest<Params>) => Upstream) : () => single.upstream,
    reviewer: new Reviewer(settings),
    verdicts: new Verdicts({ ...settings, isYes: ({ allowed }) => allowed, onError }),
    warnings: options.onError === undefined ? new ReviewWarnings() : undefined,
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

interface AccessReviewerParts<Params> {
  readonly upstreamOf: (request: AuthorizeRequest<Params>) => Upstream;
  readonly reviewer: Reviewer;
  readonly verdicts: Verdicts<Decision>;
  /** Set if the caller receives no errors. */
  readonly warnings: ReviewWarnings | undefined;
}

interface AccessQuestion {
  readonly upstream: Upstream;
  readonly prefix: string;
  readonly subject: ReviewSubject;
  readonly about: object;
}

/** User of a review. */
interface ReviewSubject {
  readonly named: { readonly user: string; readonly groups?: readonly string[] };
  readonly hash: string;
}

/** Converts requests to reviews. */
class AccessReviewer<Params> {
  readonly #options: SubjectAccessReviewOptions<Params>;
  readonly #parts: AccessReviewerParts<Params>;
  /** Each user is hashed once: users are immutable and shared between requests, and lists of groups are long. */
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
    if (cluster === undefined) return deny("requests to all logical clusters at once cannot be authorized here");
    const attributes = asked(request);
    if (attributes === undefined) return deny("this request is not served here");
    const { verdicts } = this.#parts;
    const upstream = this.#parts.upstreamOf(request);
    const subject = this.#subject(request.user);
    const question = { upstream, prefix: prefixOf(cluster), subject, about: questionOf(attributes) };
    const key = this.#keyOf(question);
    return verdicts.known(key) ?? this.#find(key, question, request.signal);
  }

  async #find(key: string, question: AccessQuestion, signal: AbortSignal): Promise<Decision> {
    try {
      return await this.#parts.verdicts.find(key, (over) => this.#reported(question, over), signal);
    } catch (error) {
      if (error instanceof ReviewFailure && error.transient) throw unavailable();
      throw error;
    }
  }

  async #reported(question: AccessQuestion, signal: AbortSignal): Promise<Decision> {
    const { warnings } = this.#parts;
    try {
      const decision = await this.#review(question, signal);
      warnings?.answered(question);
      return decision;
    } catch (error) {
      if (!signal.aborted) warnings?.failed(error, question);
      throw error;
    }
  }

  async #review({ upstream, prefix, subject, about }: AccessQuestion, signal: AbortSignal): Promise<Decision> {
    const { deep = false, path, version = "v1" } = this.#options;
    const spec = specOf(about, subject.named, version);
    const to = { upstream, prefix, version, ...(path !== undefined && { path }) };
    const headers = deep ? DEEP : [];
    const status = await this.#parts.reviewer.ask({ ...REVIEW, ...to, spec, headers }, signal);
    return decisionOf(status, { from: upstream.url, showReason: this.#options.showReason ?? false });
  }

  #keyOf({ upstream, prefix, subject, about }: AccessQuestion): string {
    const text = JSON.stringify([subject.hash, this.#number(upstream), prefix, about]);
    return text.length <= LONGEST_KEY ? text : hash("sha256", text, "base64");
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

/** Returns the spec of a review. In v1beta1, groups are the field `group`. */
function specOf(about: object, { groups, ...named }: ReviewSubject["named"], version: "v1" | "v1beta1"): object {
  return { ...about, ...named, ...(groups && { [version === "v1" ? "groups" : "group"]: groups }) };
}

/** Returns a user as in reviews, without empty fields, as Kubernetes does. */
export function subjectOf({ name, uid, groups, extra }: Identity): ReviewSubject["named"] {
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

/** @throws ReviewFailure for a status that neither allows nor denies, or does both */
function decisionOf(status: JsonObject, { from, showReason }: ReadTerms): Decision {
  const { allowed, denied = false, reason = "" } = status;
  const failure = (text: string): ReviewFailure =>
    new ReviewFailure(`${from}: the SubjectAccessReview in the response is invalid: ${text}`, {
      transient: false,
    });
  if (typeof allowed !== "boolean") throw failure("allowed is not a boolean");
  if (typeof denied !== "boolean") throw failure("denied is not a boolean");
  if (allowed && denied) throw failure("both allowed and denied are true");
  if (allowed) return allow();
  const text = showReason && typeof reason === "string" ? reason.slice(0, LONGEST) : "";
  return denied ? { allowed: false, reason: text, final: true } : { allowed: false, reason: text };
}

function clusterIn({ params }: AuthorizeRequest<unknown>): string | undefined {
  const { cluster = "" } = (params ?? {}) as { readonly cluster?: string };
  return cluster === WILDCARD ? undefined : cluster;
}

function unavailable(): ApiError {
  return ApiError.serviceUnavailable("the server that authorizes this request is unavailable: try again", 1);
}

/** Place that reviews are sent to. */
interface ReviewPlace {
  readonly upstream: Upstream;
  /** Path of the logical cluster. */
  readonly prefix: string;
}

/** Number of places to remember: callers choose the logical cluster. */
const MOST = 1_000;

/** Process warnings of failed reviews: one while a server is away, otherwise one for each place until the reason changes. */
class ReviewWarnings {
  readonly #reasons = new Map<string, string>();

  failed(error: unknown, place: ReviewPlace): void {
    const isAway = error instanceof ReviewFailure && error.transient;
    // A server that is away does so in several ways in turn: it refuses connections, then times out.
    const reason = isAway ? "" : reasonOf(error);
    const key = keyOf(place, isAway);
    if (this.#reasons.get(key) === reason) return;
    if (this.#reasons.size >= MOST) this.#reasons.clear();
    this.#reasons.set(key, reason);
    process.emitWarning(`subject access review failed: ${String(error)}`);
  }

  answered(place: ReviewPlace): void {
    if (this.#reasons.size === 0) return;
    for (const isAway of [true, false]) this.#reasons.delete(keyOf(place, isAway));
  }
}

/** A server that is away fails in all logical clusters. */
function keyOf({ upstream, prefix }: ReviewPlace, isAway: boolean): string {
  return isAway ? upstream.url : `${upstream.url} ${prefix}`;
}

/** Returns the message without the request, which names the logical cluster. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^POST \S+: /, "");
}
