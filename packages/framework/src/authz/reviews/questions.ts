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

/** What reviews are about. */
export interface ReviewSubject {
  readonly workspace: VirtualWorkspace;
  readonly log: Log;
  /** Who may act as somebody else, which is for the server to say and not for its views. */
  readonly impersonation: Authorizer<unknown>;
}

/** Which reviews a view has besides its own resources. */
export interface ReviewsBesides {
  besides(list: readonly ServedResource[]): readonly ServedResource[];
}

/** What a view would decide about requests that nobody has made: it is asked the very same, in the very same place. */
export class Questions {
  readonly #subject: ReviewSubject;
  readonly #reviews: ReviewsBesides;

  constructor(subject: ReviewSubject, reviews: ReviewsBesides) {
    this.#subject = subject;
    this.#reviews = reviews;
  }

  /** What the view says that it serves to the asker. @throws what its hook throws */
  async served(asker: Asker): Promise<readonly ServedResource[]> {
    return advertised(await viewResources(this.#subject.workspace, asker));
  }

  /** The reviews that it has besides. */
  reviews(list: readonly ServedResource[]): readonly ServedResource[] {
    return this.#reviews.besides(list);
  }

  /** @param list what the view serves to the asker @throws what the view's rule throws */
  decide(asker: Asker, info: RequestInfo, list: readonly ServedResource[]): Decision | Promise<Decision> {
    if (isReview(info) && findIn(this.reviews(list), info) !== undefined) return mayReview(asker.user);
    const { workspace, impersonation } = this.#subject;
    const authorizer = info.isResource && info.verb === "impersonate" ? impersonation : workspace.authorize;
    return decide(authorizer, new AuthorizeQuestion(asker, info));
  }

  /** What the view's rule lists by itself; `undefined` where it cannot. @throws what it throws */
  async rules({ user, params, signal }: Asker, namespace: string): Promise<Rules | undefined> {
    return this.#subject.workspace.authorize.rules?.({ user, params, namespace, signal });
  }

  /** What may be told to a caller of what went wrong: an ApiError as it stands, of anything else where to look. */
  failure(error: unknown, { requestId }: Pick<RequestOptions, "requestId">): string {
    if (isApiError(error)) return error.message;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#subject.log({ level: "error", message: "review failed", requestId, error: text });
    return `the rule of this view failed: the server's log says why, under request ${requestId}`;
  }
}

/** On whose behalf a review asks. */
export function askerOf({ params }: Scope, { user, signal }: RequestOptions): Asker {
  return { params, user, signal };
}

/**
 * A request about objects as its path would say it: in the version that is preferred unless one is named, and of a kind
 * that is in no namespace without one, which kubectl names all the same.
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

/** What of a list a request is about. */
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
