import type { Client } from "@virtual-workspaces/client";
import { splitCluster } from "@virtual-workspaces/client/http";
import { proxyVerb, type SubjectAccessReviewAuthorizer, subjectAccessReview } from "@virtual-workspaces/forwarding";
import {
  type AuthorizeRequest,
  type Decision,
  deny,
  type User,
  type WorkspaceRequest,
} from "@virtual-workspaces/framework";
import { pathInfo } from "@virtual-workspaces/framework/request";
import { Space } from "../kinds/space.ts";
import type { SpacesViewOptions } from "./options.ts";

/** Attributes of a review of `spaces/proxy`. */
interface ProxyReview {
  readonly verb: string;
  /** "" for all namespaces. */
  readonly namespace: string;
  /** "" for all names. */
  readonly name: string;
}

type AccessOptions = Pick<SpacesViewOptions, "allowCache" | "denyCache" | "onError">;
type Requester = Pick<WorkspaceRequest<unknown>, "user" | "signal">;

/** Interval between reviews of open watches and upgraded connections, ms. */
export const REVIEW_EVERY = 1_000;
const INFO = pathInfo("get", "/");

/** Authorizes callers by SubjectAccessReviews of `spaces/proxy` in the management cluster, as Kubernetes does for the proxies of nodes and services. */
export class SpacesAccess implements AsyncDisposable {
  readonly #ask: SubjectAccessReviewAuthorizer<ProxyReview>;

  constructor(reviews: Client, { allowCache, denyCache, onError }: AccessOptions) {
    this.#ask = subjectAccessReview<ProxyReview>({
      upstream: reviews.upstream,
      cluster: () => (splitCluster(reviews.upstream).cluster === "" ? reviews.clusterName : ""),
      ...(allowCache !== undefined && { allowCache }),
      ...(denyCache !== undefined && { denyCache }),
      watchesEvery: REVIEW_EVERY,
      onError: (error) => onError({ error }),
      attributes: ({ params }) => ({ ...params, group: Space.group, resource: Space.plural, subresource: "proxy" }),
    });
  }

  /** Authorizes a request to one Space. */
  async one({ metadata: { namespace = "", name = "" } }: Space, request: AuthorizeRequest<unknown>): Promise<Decision> {
    return this.#decide(request, { verb: proxyVerb(request), namespace, name });
  }

  /** Authorizes a request to all Spaces. */
  async all(request: AuthorizeRequest<unknown>): Promise<Decision> {
    return this.#decide(request, { verb: proxyVerb(request), namespace: "", name: "" });
  }

  /** Authorizes a request to several Spaces, in the namespaces whose Spaces the caller may list. */
  async several(request: AuthorizeRequest<unknown>, seen: ReadonlySet<string> | undefined): Promise<Decision> {
    const all = await this.all(request);
    if (all.allowed || seen === undefined || seen.size === 0) return all;
    const decisions = [...seen].map((namespace) =>
      this.#decide(request, { verb: proxyVerb(request), namespace, name: "" }),
    );
    const decided = await Promise.all(decisions);
    return decided.find(({ allowed }) => !allowed) ?? decided[0] ?? deny("you may not use any Space");
  }

  /** Returns the namespaces whose Spaces the caller may list; `undefined` for all current and future ones. */
  async seen(asking: Requester, namespaces: () => Iterable<string>): Promise<ReadonlySet<string> | undefined> {
    const lists = (namespace: string): Promise<Decision> => this.#decide(asking, { verb: "list", namespace, name: "" });
    if ((await lists("")).allowed) return undefined;
    const all = [...namespaces()].sort();
    const decided = await Promise.all(all.map(lists));
    return new Set(all.filter((_, at) => decided[at]?.allowed === true));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ask[Symbol.asyncDispose]();
  }

  async #decide(
    { user, signal }: { readonly user: User; readonly signal: AbortSignal },
    params: ProxyReview,
  ): Promise<Decision> {
    return this.#ask({ ...INFO, user, signal, params });
  }
}
