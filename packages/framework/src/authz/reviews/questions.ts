import { isApiError } from "@virtual-workspaces/apimachinery";
import { compareVersionPriority } from "@virtual-workspaces/apimachinery/discovery";
import { type Asker, AuthorizeQuestion, advertised, viewResources } from "../../hooks/hooks.ts";
import type { Log } from "../../observe/log/log.ts";
import { isLongRunning, type RequestInfo } from "../../request/request-info.ts";
import type { ServedResource } from "../../resource/served.ts";
import type { RequestOptions, Scope } from "../../storage.ts";
import type { VirtualWorkspace } from "../../virtual-workspace.ts";
import { type Authorizer, type Decision, decide, isReview, mayReview, type Rules } from "../authorization.ts";
import type { Attributes } from "./content.ts";

/** View that reviews are about. */
export interface ReviewSubject {
  readonly workspace: VirtualWorkspace;
  readonly log: Log;
  /** Authorizes impersonation, which the server decides and not its views. */
  readonly impersonation: Authorizer<unknown>;
}

/** Reviews that a view serves besides its own resources. */
export interface ReviewsBesides {
  besides(list: readonly ServedResource[]): readonly ServedResource[];
}

/** Decides hypothetical requests of a view, by the same code that decides real ones. */
export class Questions {
  readonly #subject: ReviewSubject;
  readonly #reviews: ReviewsBesides;

  constructor(subject: ReviewSubject, reviews: ReviewsBesides) {
    this.#subject = subject;
    this.#reviews = reviews;
  }

  /** Returns the resources that the view serves to a user. @throws whatever its discovery hook throws */
  async served(asker: Asker): Promise<readonly ServedResource[]> {
    return advertised(await viewResources(this.#subject.workspace, asker));
  }

  /** Returns the reviews to serve in addition. */
  reviews(list: readonly ServedResource[]): readonly ServedResource[] {
    return this.#reviews.besides(list);
  }

  /** @param list resources that the view serves to the user @throws whatever the view's rule throws */
  decide(asker: Asker, info: RequestInfo, list: readonly ServedResource[]): Decision | Promise<Decision> {
    if (isReview(info) && findIn(this.reviews(list), info) !== undefined) return mayReview(asker.user);
    const { workspace, impersonation } = this.#subject;
    const authorizer = isImpersonation(info) ? impersonation : workspace.authorize;
    return decide(authorizer, new AuthorizeQuestion(asker, info));
  }

  /** Returns the rules that the view's authorizer lists; `undefined` if it cannot. @throws whatever it throws */
  async rules({ user, params, signal }: Asker, namespace: string): Promise<Rules | undefined> {
    return this.#subject.workspace.authorize.rules?.({ user, params, namespace, signal });
  }

  /** Returns the error text for a caller: an ApiError's message; otherwise only a reference to the log. */
  failure(error: unknown, { requestId }: Pick<RequestOptions, "requestId">): string {
    if (isApiError(error)) return error.message;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#subject.log({ level: "error", message: "review failed", requestId, error: text });
    return `authorizer of this view failed: see the server's log for request ${requestId}`;
  }
}

function isImpersonation({ isResource, verb }: RequestInfo): boolean {
  return (isResource && /^impersonate(?:$|:)/.test(verb)) || verb.startsWith("impersonate-on:");
}

/** Returns the user and path parameters of a review. */
export function askerOf({ params }: Scope, { user, signal }: RequestOptions): Asker {
  return { params, user, signal };
}

/**
 * Returns the request info that the path of such a request would have. Its version is the preferred one unless one is
 * named. A cluster-scoped kind has no namespace, although kubectl sends one.
 */
export function resourceInfo(attributes: Attributes, list: readonly ServedResource[]): RequestInfo {
  const { verb = "", group = "", version: named = "", resource = "", subresource = "", name = "" } = attributes;
  const candidates = list
    .map(({ definition }) => definition)
    .filter((one) => one.group === group && one.plural === resource);
  const versions = candidates.map(({ version }) => version).sort(compareVersionPriority);
  const version = named === "" || named === "*" ? (versions[0] ?? "") : named;
  const isCluster = candidates.find((one) => one.version === version)?.scope === "Cluster" && resource !== "namespaces";
  const namespace = isCluster ? "" : (attributes.namespace ?? "");
  const root = group === "" ? ["api", version] : ["apis", group, version];
  const place = namespace === "" || resource === "namespaces" ? [] : ["namespaces", namespace];
  const path = ["", ...root, ...place, ...[resource, name, subresource].filter((part) => part !== "")].join("/");
  const longRunning = isLongRunning(verb, subresource);
  return {
    isResource: true,
    verb,
    path,
    group,
    version,
    resource,
    identity: "",
    subresource,
    namespace,
    name,
    longRunning,
    upgrade: false,
  };
}

type Named = Pick<RequestInfo, "group" | "version" | "resource">;

/** Returns the resource that a request is for. */
export function findIn(list: readonly ServedResource[], info: Named): ServedResource | undefined {
  const name = nameOf(info);
  return list.find(({ definition }) => nameOf(namedBy(definition)) === name);
}

function namedBy({ group, version, plural }: Omit<Named, "resource"> & { readonly plural: string }): Named {
  return { group, version, resource: plural };
}

function nameOf({ group, version, resource }: Named): string {
  return `${group}/${version}/${resource}`;
}
