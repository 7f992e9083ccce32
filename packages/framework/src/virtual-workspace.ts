import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { GroupOrder } from "@virtual-workspaces/apimachinery/discovery";
import type { Authenticator } from "./authn/authenticator.ts";
import type { AuthorizeRequest, Authorizer } from "./authz/authorization.ts";
import type { Log } from "./observe/log/log.ts";
import { checkPanel } from "./panel/check-panel.ts";
import type { Panel } from "./panel/panel.ts";
import { checkPrefix, type PathParams, parsePattern } from "./request/path.ts";
import type { RawRequest, WorkspaceRequest } from "./request/raw-request.ts";
import type { ServedResource } from "./resource/served.ts";
import type { Awaitable } from "./util/awaitable.ts";

/** A resource as a path names it. */
export interface AskedResource {
  readonly group: string;
  readonly version: string;
  /** Plural name. */
  readonly resource: string;
}

/** Result of `locate` with additional parameters, which all hooks get besides those of the path. */
export interface Located {
  /** Name of the logical cluster that the request is about. */
  readonly cluster: string;
  /** Additional parameters, under names that the path does not use: `{ mount: "lab" }`. Parameters of the path stay. */
  readonly params: Readonly<Record<string, string>>;
}

/** A document at a path of its own. */
export interface ViewDocument {
  readonly contentType: string;
  readonly body: string;
  /** `Cache-Control` of the response. @default `no-cache, private` */
  readonly cacheControl?: string;
}

/**
 * Result of `setup`, or of its promise: it runs as long as the server, which disposes of it when it closes. `setup` may return:
 *
 * - nothing: `setup` has only prepared something, or ends with the `signal` of its context;
 * - a `Disposable`: a timer of `setInterval`, a `DisposableStack`;
 * - an `AsyncDisposable`, whose end the server awaits: the result of `start` of a polled source, a started informer or
 *   controller, a store; an `AsyncDisposableStack` of several, which are disposed of in reverse order.
 *
 * An object that is both is disposed of as an `AsyncDisposable`.
 */
export type SetupResult = AsyncDisposable | Disposable | undefined;

/** Argument of `setup`. */
export interface SetupContext {
  /** Aborts when the server closes. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/**
 * A virtual workspace: an API server of its own under `/services/<name>`, or another prefix. Made by
 * {@link defineVirtualWorkspace}.
 */
export interface VirtualWorkspace<Params = Readonly<Record<string, string>>> {
  /**
   * Segment after `/services/`, and the name in metrics, logs and `/readyz/<name>`: lower-case letters, digits and dashes,
   * unique within a server.
   */
  readonly name: string;
  /**
   * Prefix in place of `/services`: one or more plain segments, `/clusters`. Not `/livez`, `/readyz`, `/metrics`, `/statusz` or `/flagz`; prefixes
   * of one server must not overlap. Routes of an Express application do not see what is below. `/` is for all that no other
   * view and no part of the server has: an application's routes come first, and the middleware ignores it. With `path: "/"`,
   * its `authorize` also decides who gets a 404 with the reason for an unknown path below `/services`; others get 403.
   * `/services` is for the names there that no other view has, for a server that proxies them. A 403 about a path names the
   * path below the prefix.
   * @default `/services/<name>`
   */
  readonly prefix?: string;
  /** Path after the prefix: literals and `:parameters`, `/` for nothing. `:cluster` is the logical cluster. */
  readonly path: string;
  /**
   * Whether `:cluster` may be `*`: lists and watches over all logical clusters. Security: `authorize` must then decide on
   * `params.cluster === "*"` as well.
   * @default false, such requests are 400
   */
  readonly wildcard?: boolean;
  /**
   * Whether `/clusters/<cluster>` or `/clusters/*` may follow `path`, as cluster-aware clients add it to any URL. It must
   * repeat what is known: `params.cluster` stays the value of `:cluster`, and another cluster is 404. The tail of a raw
   * handler then never begins with it.
   * @default false, it is part of the tail
   */
  readonly clusterSuffix?: boolean;
  /**
   * Returns additional authenticators for this view: called for each request that no authenticator of the server accepts,
   * with the parameters of the path and the path itself, before {@link locate}. Where that takes paths, `cluster` may be a
   * path, or `*`, or may not exist. The authenticators are called in order; their `identityHeaders` and authorities are
   * ignored. An exception authenticates no one, as with `Authenticator`.
   *
   * Security: its users are like any others to impersonation, rules and upstreams. If others than the operator issue the
   * identities, reject names and groups they must not use (`system:` first of all), and let `authorize` confine these users
   * to this view.
   * @default none
   */
  readonly authentication?: (
    params: Params,
    path: Pick<RawRequest<Params>, "prefix" | "tail">,
  ) => readonly Authenticator[];
  /**
   * Resolves `:cluster` to a logical cluster: from a cluster name or, with this hook, a workspace path (`root:org:team`). The
   * result is `params.cluster` for the impersonation rule, `authorize`, `resources`, reviews, storages, raw handlers and
   * audit; {@link RawRequest.prefix} keeps the original. It is called for every request after authentication and before
   * impersonation, except for `*`. No concurrency limit applies yet: answer from memory, at once if possible. An open watch
   * stays with its logical cluster when the path moves. For a path to something inside a logical cluster, return
   * {@link Located} with parameters. A thrown `ApiError` is the response: 404 or 403 where nothing exists (for this user), 429 while
   * the answer is unknown. Any other exception or result is 500.
   *
   * Security: the error precedes `authorize`: every authenticated user learns whether a path exists.
   * @default a cluster name means itself, paths are 400
   */
  readonly locate?: (cluster: string, request: WorkspaceRequest<Params>) => Awaitable<string | Located>;
  /**
   * Authorizes every request after authentication, discovery included. An exception is 500, a denial 403. Only the reviews by
   * which callers query their identity and permissions are served to all authenticated users (`system:basic-user`).
   */
  readonly authorize: Authorizer<Params>;
  /**
   * Whether {@link handle} and {@link upgrade} serve a request, and only such requests: discovery, objects and reviews of
   * those are not answered here. Called once for every request, before `authorize`.
   * @default requests that nothing else answers
   */
  readonly handleWhen?: (request: AuthorizeRequest<Params>) => boolean;
  /**
   * Served resources: a list, or a function of the request (the discovery hook), called for every request and, while watches
   * are open, every half second: a watch on a resource that is gone or has changed ends with 410. Return the same
   * `ServedResource` values while nothing has changed, else streams are not shared.
   */
  readonly resources?:
    | readonly ServedResource[]
    | ((request: WorkspaceRequest<Params>) => Awaitable<readonly ServedResource[]>);
  /**
   * Returns the resource served to metadata-only lists and watches (`as=PartialObjectMetadataList` or
   * `as=PartialObjectMetadata` in `Accept`) where `resources` has none: for objects of several kinds without a common schema,
   * as over all logical clusters. Discovery omits it, other verbs are 405, and a request for whole objects or a Table is 406.
   * `authorize` sees the list or watch, not that it is metadata-only. Called for every such request after `authorize` and,
   * while watches are open, every half second. Return the same value while nothing has changed.
   * @default 404
   */
  readonly metadataOf?: (
    resource: AskedResource,
    request: WorkspaceRequest<Params>,
  ) => Awaitable<ServedResource | undefined>;
  /**
   * Order of API groups in discovery: by name, or as in `resources`. Clients use it where several groups have a resource:
   * `kubectl get events`.
   * @default "name"
   */
  readonly groupOrder?: GroupOrder;
  /**
   * Whether discovery has only the documents that Kubernetes had before the aggregated ones, for clients that compare them with
   * kcp's: `/apis` is never aggregated, and `/api` lists `v1` whatever is served.
   * @default false
   */
  readonly plainDiscovery?: boolean;
  /**
   * Returns the host and port of the server, which `/api` and the groups of `/apis` list for clients, as in Kubernetes
   * (`serverAddressByClientCIDRs`). Aggregated discovery has none.
   * @default none, as clients know the address that they use
   */
  readonly serverAddress?: (params: Params) => string;
  /**
   * Readiness hook: until it resolves, and whenever it throws, requests are 503 and `/readyz/<name>` fails.
   * @default ready
   */
  readonly ready?: (context: { readonly signal: AbortSignal }) => Awaitable<void>;
  /**
   * Runs once when the server starts, before it serves requests. The server disposes of the result when it closes; `signal`
   * aborts then. An exception, or a result that cannot be disposed of, keeps the server from starting.
   */
  readonly setup?: (context: SetupContext) => Awaitable<SetupResult>;
  /**
   * Returns the view's own metrics, for `/metrics` of its server; called on every scrape. Families of the same name are
   * merged across views, and values of the same labels are added: a gauge that cannot be added needs a label for its view.
   * Labels must have few values and must not contain data of callers. An exception is logged, and its
   * metrics are left out.
   * @default none
   */
  readonly metrics?: () => readonly MetricFamily[];
  /**
   * Additional documents by path below the view: `/.well-known/openid-configuration`. Served to GET and HEAD after
   * `authorize` has allowed the path, and listed at the view's root. Not below `/api`, `/apis` or `/openapi`.
   * @default none
   */
  readonly documents?: Readonly<Record<`/${string}`, (request: RawRequest<Params>) => ViewDocument>>;
  /**
   * Panels of the console for this view and its kinds. A server without a console ignores them.
   *
   * Security: a panel acts with the rights of each user who opens it.
   * @default none
   */
  readonly panels?: readonly Panel[];
  /**
   * Returns the paths of this view that lead to other servers, if it is no API of its own, as in a front proxy. `/statusz` lists them as
   * `mappedPaths`: clients then know that there is nothing to check or to test at {@link path}.
   * @default none, the view is an API
   */
  readonly mappedPaths?: () => readonly string[];
  /** Whether raw handlers get the callers' own bearer tokens, which the server withholds otherwise. @default false */
  readonly takesToken?: boolean;
  /**
   * Whether the raw handlers' upstream, not this server's rule, decides about `Impersonate-*`: hooks get the authenticated
   * caller, and handlers the identity it asks for. For proxies to servers that authorize by themselves, such as a front
   * proxy; not beside `resources`.
   * @default false
   */
  readonly passesImpersonation?: boolean;
  /** Raw handler: serves what `resources` does not, after authorization. It owns the response. */
  readonly handle?: (req: IncomingMessage, res: ServerResponse, request: RawRequest<Params>) => Awaitable<void>;
  /** Raw handler of `Connection: Upgrade`. Without it upgrades are rejected with a Status; an offer of `h2c` is ignored. */
  readonly upgrade?: (
    req: IncomingMessage,
    socket: Duplex,
    request: RawRequest<Params> & { readonly head: Buffer },
  ) => Awaitable<void>;
}

/**
 * Checks and types a virtual workspace. Parameters are inferred from `path`.
 *
 * @throws Error on a malformed path or prefix, without `authorize`, without all of `resources`, `handle` and `upgrade`, on
 * `handleWhen` without `handle`, on `passesImpersonation` beside `resources`, on a document at a path in use, on an invalid
 * panel, or on `locate` or `clusterSuffix` without `:cluster`.
 *
 * @example
 * ```ts
 * import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
 *
 * const Book = defineResource({ group: "example.dev", version: "v1", kind: "Book", scope: "Namespaced" });
 *
 * export default defineVirtualWorkspace({
 *   name: "books", // served under /services/books/clusters/<cluster>
 *   path: "/clusters/:cluster",
 *   authorize: authenticated(),
 *   resources: [Book.serve(Book.collection())],
 * });
 * ```
 * @see docs/how-to/writing-a-view.md
 */
export function defineVirtualWorkspace<const Path extends string>(
  options: Omit<VirtualWorkspace<PathParams<Path>>, "path"> & { readonly path: Path },
): VirtualWorkspace {
  const segments = parsePattern(options.path);
  if (options.prefix !== undefined) checkPrefix(options.prefix);
  if (options.locate !== undefined && !segments.includes(":cluster")) {
    throw new Error(`invalid locate of virtual workspace ${options.name}: its path needs a :cluster`);
  }
  if (options.clusterSuffix === true && !segments.includes(":cluster")) {
    throw new Error(`invalid clusterSuffix of virtual workspace ${options.name}: its path needs a :cluster`);
  }
  if (typeof options.authorize !== "function") {
    throw new Error(`virtual workspace ${options.name} has no authorization rule: set authorize`);
  }
  if (options.resources === undefined && options.handle === undefined && options.upgrade === undefined) {
    throw new Error(`virtual workspace ${options.name} serves nothing: set resources or handle`);
  }
  if (options.handleWhen !== undefined && options.handle === undefined)
    throw new Error(`invalid handleWhen of virtual workspace ${options.name} without a handler: set handle`);
  if (options.passesImpersonation === true && options.resources !== undefined)
    throw new Error(
      `conflicting options of virtual workspace ${options.name}: leave out passesImpersonation or resources`,
    );
  const misplaced = Object.keys(options.documents ?? {}).find(
    (path) => !/^\/(?!(?:apis?|openapi)(?:\/|$))[^/]/.test(path),
  );
  if (misplaced !== undefined)
    throw new Error(`invalid document path ${misplaced} of virtual workspace ${options.name}: use a path of its own`);
  for (const panel of options.panels ?? []) checkPanel(panel, `virtual workspace "${options.name}"`);
  // The matcher guarantees the parameters that `path` names.
  return Object.freeze(options) as unknown as VirtualWorkspace;
}

/** Returns the path of a virtual workspace below its server, with parameters in braces, as OpenAPI writes them: `/services/quotes/clusters/{cluster}`. */
export function templateOf({
  name,
  prefix = `/services/${name}`,
  path,
}: {
  readonly name: string;
  readonly prefix?: string | undefined;
  readonly path: string;
}): string {
  const whole = `${prefix === "/" ? "" : prefix}${path === "/" ? "" : path}` || "/";
  return whole.replace(/:(\w+)/g, "{$1}");
}

/** One time series: labels in the order of the family's names, and the value. */
export interface MetricSample {
  readonly labels: readonly string[];
  readonly value: number;
}

/** Histogram data of one set of labels. */
export interface MetricDistribution {
  readonly labels: readonly string[];
  /** Number of observations per bucket; not cumulative. */
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** A metric and all its series, with their current values. */
export type MetricFamily = {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
} & (
  | { readonly type: "counter" | "gauge"; readonly samples: readonly MetricSample[] }
  | {
      readonly type: "histogram";
      /** Upper bounds of its buckets, ascending. */
      readonly bounds: readonly number[];
      readonly samples: readonly MetricDistribution[];
    }
);
