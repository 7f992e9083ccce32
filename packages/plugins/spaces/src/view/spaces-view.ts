import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  type AuthorizeRequest,
  type Authorizer,
  type Decision,
  defineVirtualWorkspace,
  type RawRequest,
  type ServedResource,
  type VirtualWorkspace,
  type WorkspaceRequest,
} from "@virtual-workspaces/framework";
import { Targets } from "@virtual-workspaces/framework/proxy";
import { requestInfo } from "@virtual-workspaces/framework/request";
import { untilAborted } from "@virtual-workspaces/transport";
import { Space } from "../kinds/space.ts";
import { spacesPanels } from "../panels.ts";
import type { AcrossOptions } from "./across-spaces.ts";
import type { SpacesViewOptions } from "./options.ts";
import { SelectedSpaces } from "./selected-spaces.ts";
import type { ServedSpace } from "./served-space.ts";
import { ServedSpaces } from "./served-spaces.ts";
import { ambiguous, isOne, pathTo, type SpacePath } from "./space-path.ts";
import { REVIEW_EVERY, SpacesAccess } from "./spaces-access.ts";

/**
 * Serves Spaces by provider and name. `/services/spaces/<provider>/<space>/…` is a reverse proxy to one Space, including terminals and
 * watches. With `*` for either part, the view serves the selected Spaces as one API server. It supports reads, watches and changes of all
 * their kinds, with resource versions of its own. `-` stands for the provider of Spaces without one.
 *
 * Security: a SubjectAccessReview of `spaces/proxy` in the management cluster authorizes each request by its verb. Across Spaces, callers
 * see those of the namespaces in which they may list `spaces/proxy`. Requests use the credential of the Space's Secret, so a caller with
 * `get` reads all that it may read, including Secrets, unless `identity` is `impersonate`.
 *
 * @example
 * ```ts
 * import { Client } from "@virtual-workspaces/client";
 * import { tokenReview } from "@virtual-workspaces/forwarding";
 * import { createServer } from "@virtual-workspaces/framework";
 * import { followSpaces, spacesView } from "@virtual-workspaces/spaces";
 *
 * const client = await Client.fromKubeconfig();
 * const onError = ({ error }: { readonly error: unknown }): void => console.error(String(error));
 * const server = createServer({
 *   virtualWorkspaces: [spacesView({ spaces: followSpaces({ client, onError }), reviews: client, onError })],
 *   authentication: [tokenReview({ upstream: client.upstream })],
 * });
 * ```
 * @see docs/how-to/spaces-view.md
 */
export function spacesView(options: SpacesViewOptions): VirtualWorkspace {
  const serving = new Serving(options);
  const authorize: Authorizer<SpacePath> = Object.assign(
    (request: AuthorizeRequest<SpacePath>) => serving.may(request),
    {
      watchesEvery: REVIEW_EVERY,
    },
  );
  return defineVirtualWorkspace({
    name: "spaces",
    path: "/:provider/:space",
    authorize,
    ready: serving.ready,
    handleWhen: (request) => isOne(request.params) || isInOne(request),
    handle: (req, res, request) => passedBy(serving, request, req.method).handle(req, res, request),
    upgrade: (req, socket, request) => passedBy(serving, request, req.method).upgrade(req, socket, request),
    resources: (request) => serving.resources(request),
    panels: spacesPanels,
    setup: () => {
      serving.start();
      return serving;
    },
  });
}

const REVIEWS: readonly string[] = ["authentication.k8s.io", "authorization.k8s.io"];
const IN_ONE: readonly string[] = ["create", "deletecollection"];

/** Reports whether a request is only possible in one Space. The view itself answers reviews of the caller's identity and permissions. */
function isInOne({ isResource, group, verb, subresource }: AuthorizeRequest<SpacePath>): boolean {
  if (!isResource || REVIEWS.includes(group)) return false;
  return IN_ONE.includes(verb) || (subresource !== "" && subresource !== "status");
}

/** @throws ApiError 400, 404 or 503 if the Space is ambiguous or cannot be used; 405 if the path names none */
function passedBy(serving: Serving, { params, tail, search }: RawRequest<SpacePath>, method = "GET") {
  if (isOne(params)) return serving.one(params).passed;
  const { group, resource, verb } = requestInfo({ method, tail, query: new URLSearchParams(search) });
  const { status } = ApiError.methodNotAllowed({ group, resource }, verb);
  const message = `${status.message} across spaces: name one, as in ${serving.example(params)}`;
  throw new ApiError({ ...status, message });
}

const DISCOVER_EVERY = 10_000;
const PATIENCE = 10_000;

/** State of the view from start to close. */
class Serving implements AsyncDisposable {
  readonly #options: SpacesViewOptions;
  readonly #access: SpacesAccess;
  readonly #across: AcrossOptions;
  /** One instance for all callers that see the same Spaces, closed after some time without requests. */
  readonly #selected: Targets<SelectedSpaces> = new Targets({ isActive: () => false });
  readonly #begun = Promise.withResolvers<void>();
  #served: ServedSpaces | undefined;
  #closed = false;

  constructor(options: SpacesViewOptions) {
    const { identity = "secret", partial, patience = PATIENCE, history, reviews, onError } = options;
    this.#options = options;
    this.#across = {
      identity: identity === "secret" ? "none" : "impersonate",
      history,
      patience,
      ...(partial && { partial }),
      onError: (space, error) => onError({ space, error }),
    };
    this.#access = new SpacesAccess(reviews, options);
  }

  /** Starts once the Spaces are available. */
  start(): void {
    const begin = async (): Promise<void> => {
      const spaces = await this.#options.spaces;
      await spaces.synced;
      if (this.#closed) return;
      this.#served = new ServedSpaces(spaces, this.#across, this.#options.discoverEvery ?? DISCOVER_EVERY);
      this.#begun.resolve();
    };
    begin().catch((error: unknown) => {
      if (!this.#closed) this.#options.onError({ error });
      this.#begun.reject(error);
    });
    this.#begun.promise.catch(() => undefined); // `ready` reports the error.
  }

  /** Resolves when the Spaces have been read. @throws the error of the read; the signal's reason */
  readonly ready = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    await untilAborted(this.#begun.promise, signal);
    await this.#all.known(this.#across.patience ?? PATIENCE, signal);
  };

  /** Returns the Space of a path. @throws ApiError 404 if there is none, 400 if its provider has several with that name */
  one(path: SpacePath): ServedSpace {
    const [found, ...others] = this.#all.at(path);
    if (found === undefined) throw ApiError.notFound({ group: Space.group, resource: Space.plural }, path.space);
    if (others.length === 0) return found;
    const names = [found, ...others].map(({ name }) => name).join(", ");
    const message = `several Spaces have this name: ${names}: rename all but one, or read them together at /services/spaces/*/${path.space}`;
    throw ambiguous({ group: Space.group, resource: Space.plural }, path.space, message);
  }

  /** Authorizes a request for the Spaces of a path. */
  async may(request: AuthorizeRequest<SpacePath>): Promise<Decision> {
    if (!isOne(request.params)) return this.#access.several(request, await this.#seen(request));
    const [one, ...others] = this.#all.at(request.params);
    // Security: only callers that may use all Spaces learn that one does not exist.
    return one === undefined || others.length > 0 ? this.#access.all(request) : this.#access.one(one.space, request);
  }

  /** Returns the kinds of the Spaces of a path. While none is known, new Spaces get time to report theirs. */
  async resources(request: WorkspaceRequest<SpacePath>): Promise<readonly ServedResource[]> {
    const selected = await this.#several(request);
    const known = await selected.resources();
    if (known.length > 0) return known;
    await this.#all.known(this.#across.patience ?? PATIENCE, request.signal);
    return selected.resources();
  }

  /** Returns the Spaces that a caller may see. */
  async #several(request: WorkspaceRequest<SpacePath>): Promise<SelectedSpaces> {
    this.#all.refresh();
    const { provider, space } = request.params;
    const namespaces = await this.#seen(request);
    const key = JSON.stringify([provider, space, namespaces && [...namespaces]]);
    const selection = { path: { provider, space }, namespaces };
    return this.#selected.of(key, "", () => new SelectedSpaces(this.#all, selection, this.#across));
  }

  /** Returns an example path of a single Space for an error message. */
  example(path: SpacePath): string {
    const [first] = this.#all.at(path);
    return first === undefined ? "/services/spaces/<provider>/<space>" : pathTo(first.space);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#selected[Symbol.asyncDispose]();
    await this.#served?.[Symbol.asyncDispose]();
    await this.#access[Symbol.asyncDispose]();
  }

  get #all(): ServedSpaces {
    if (this.#served === undefined) throw ApiError.serviceUnavailable("the Spaces have not been read yet", 1);
    return this.#served;
  }

  #seen({ user, signal, params }: WorkspaceRequest<SpacePath>): Promise<ReadonlySet<string> | undefined> {
    const namespaces = (): Set<string> =>
      new Set(this.#all.at(params).map(({ space }) => space.metadata.namespace ?? ""));
    return this.#access.seen({ user, signal }, namespaces);
  }
}
