import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { GroupOrder } from "@virtual-workspaces/apimachinery/discovery";
import type { Authenticator } from "./authn/authenticator.ts";
import type { AuthorizeRequest, Authorizer } from "./authz/authorization.ts";
import type { Log } from "./observe/log/log.ts";
import { checkPrefix, type PathParams, parsePattern } from "./request/path.ts";
import type { RawRequest, WorkspaceRequest } from "./request/raw-request.ts";
import type { ServedResource } from "./resource/served.ts";
import type { Awaitable } from "./util/awaitable.ts";

/** A resource as a path names it. */
export interface AskedResource {
  readonly group: string;
  readonly version: string;
  /** The plural. */
  readonly resource: string;
}

/** What `locate` says where a name alone does not: all hooks are told of the parameters, besides those of the path. */
export interface Located {
  /** The name of the logical cluster that the request is about. */
  readonly cluster: string;
  /** By names that the path has not, those of which stay as they are: `{ mount: "lab" }`. */
  readonly params: Readonly<Record<string, string>>;
}

/** A text at a path of its own. */
export interface ViewDocument {
  readonly contentType: string;
  readonly body: string;
  /** Who may keep it, for how long. @default `no-cache, private` */
  readonly cacheControl?: string;
}

/** What `setup` is told. */
export interface SetupContext {
  /** Aborts when the server closes. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** A virtual workspace: an API server of its own under `/services/<name>`, or another prefix. Made by {@link defineVirtualWorkspace}. */
export interface VirtualWorkspace<Params = Readonly<Record<string, string>>> {
  /**
   * The segment after `/services/`, and the name in metrics, logs and `/readyz/<name>`: lower-case letters, digits and
   * dashes, unique within a server.
   */
  readonly name: string;
  /**
   * Where it is instead of below `/services`: one or more plain segments, `/clusters`. Not `/livez`, `/readyz` or `/metrics`; prefixes of one server must not lead into one another. Routes of an Express
   * application beside it do not see what is below. Or `/`, for all that neither another view nor the server has: there an
   * application's routes come first, and the middleware passes by. With `path: "/"` its `authorize` is also asked who is told, by
   * a 404, that a path below `/services` leads nowhere and why; to others it is 403. Or `/services`, for the names there that no other view has,
   * as a server has it that passes these on. A 403 about a path names the path below the prefix.
   * @default `/services/<name>`
   */
  readonly prefix?: string;
  /** What follows that: literals and `:parameters`, `/` for nothing. `:cluster` is the logical cluster. */
  readonly path: string;
  /**
   * Whether `:cluster` may be `*`: lists and watches over all logical clusters. Then `authorize` must decide on
   * `params.cluster === "*"` as well. @default false, such requests are 400
   */
  readonly wildcard?: boolean;
  /**
   * Whether `/clusters/<cluster>` or `/clusters/*` may follow `path`, as clients that know of logical clusters add it to whatever
   * URL they are given. It says nothing new: `params.cluster` stays what stands for `:cluster`, and another one is 404. A tail that
   * a raw handler is given then never begins with it. @default false, it is part of the tail
   */
  readonly clusterSuffix?: boolean;
  /**
   * Who may log in to this view besides those whom the server knows: asked for each request that none of the server's
   * authenticators takes, about the parameters as the path says them, and the path itself, before {@link locate}: where that takes paths, `cluster` may
   * be one, or `*`, or nothing that there is. What it gives is asked in its order; `identityHeaders` and authorities of it are not looked at. What it
   * throws lets nobody in, as with `Authenticator`. Whoever comes in by it is a user like any other from then on, to impersonation,
   * rules and servers behind: if others than the operator say who they are, have it refuse what is not theirs to say, names and groups of the system
   * first of all, and have `authorize` see that they stay where they came in. @default nobody
   */
  readonly authentication?: (
    params: Params,
    path: Pick<RawRequest<Params>, "prefix" | "tail">,
  ) => readonly Authenticator[];
  /**
   * Says which logical cluster is meant by what stands for `:cluster`: the name of one, or with this hook a workspace path
   * as well (`root:org:team`). Everything behind it is told what it returns as `params.cluster`: the rule of impersonation,
   * `authorize`, `resources`, reviews, storages, raw handlers, audit; {@link RawRequest.prefix} keeps what was said. Asked
   * for every request once its caller is known, not whom they would be, but not about `*`, and before anything bounds how
   * much is done at a time: it should answer from memory, at once if it can. An open watch stays with its logical cluster wherever the path leads later. A path that leads to something in a logical cluster, and
   * to none of its own, is {@link Located} with parameters that say what. A thrown
   * `ApiError` is the answer: 404 or 403 where there is nothing, or nothing for this user, 429 while it is not known yet. It
   * is said before `authorize` is asked: whoever is logged in learns from it whether there is such a path. Anything else
   * that it throws, or returns, is 500. @default a cluster name means itself, paths are 400
   */
  readonly locate?: (cluster: string, request: WorkspaceRequest<Params>) => Awaitable<string | Located>;
  /**
   * Asked for every request, discovery included, after authentication. A throw is answered 500, a no 403. Only the reviews
   * by which callers ask who they are and what they may do are served to all who have logged in (`system:basic-user`).
   */
  readonly authorize: Authorizer<Params>;
  /**
   * Which requests are for {@link handle} and {@link upgrade}, and no others are, whatever else there is: their discovery, objects and
   * reviews are not answered here. Asked once for every request, before `authorize` is. @default those that nothing else answers
   */
  readonly handleWhen?: (request: AuthorizeRequest<Params>) => boolean;
  /**
   * What is served: a list, or a function of the request (the discovery hook), asked for every request and, while
   * watches are open, every half second: a watch on a resource that is gone or has changed ends with 410. Return the
   * same `ServedResource` values as long as nothing changed, else streams are not shared.
   */
  readonly resources?:
    | readonly ServedResource[]
    | ((request: WorkspaceRequest<Params>) => Awaitable<readonly ServedResource[]>);
  /**
   * What is served of a resource to those who list or watch it for its metadata alone (`as=PartialObjectMetadataList` or
   * `as=PartialObjectMetadata` in `Accept`), where `resources` have no such resource: objects of several kinds that have no
   * schema in common, as over all logical clusters. Discovery does not tell of it, other verbs are 405, and who would be
   * answered with whole objects or a Table is 406. `authorize` is asked about the list or watch, and not told that it is for
   * metadata alone. Asked for every such request once that has allowed it and, while watches are open, every half second. Return the same value as long as nothing changed. @default 404
   */
  readonly metadataOf?: (
    resource: AskedResource,
    request: WorkspaceRequest<Params>,
  ) => Awaitable<ServedResource | undefined>;
  /**
   * In which order discovery tells of API groups: by name, or as `resources` lists them. Clients choose by it where several
   * groups have what is asked for: `kubectl get events`. @default "name"
   */
  readonly groupOrder?: GroupOrder;
  /** Until it resolves, and whenever it throws, requests are answered 503 and `/readyz/<name>` fails. @default ready */
  readonly ready?: (context: { readonly signal: AbortSignal }) => Awaitable<void>;
  /** Run once when the server starts. What it returns is disposed when the server closes; `signal` aborts then. */
  readonly setup?: (context: SetupContext) => Awaitable<AsyncDisposable | Disposable | undefined>;
  /**
   * What the view counts of its own: told at `/metrics` of its server, where there is one, with all else, and asked whenever somebody reads. Families that several views have
   * are told as one. Name nothing of a caller's in labels, and as few values as there may be series. What throws is logged, and left out. @default nothing
   */
  readonly metrics?: () => readonly MetricFamily[];
  /**
   * What is there to read besides, by path below the view: `/.well-known/openid-configuration`. Answered to GET and HEAD once
   * `authorize` has been asked about the path, and named at the view's root. Not below `/api`, `/apis` or `/openapi`.
   * @default nothing
   */
  readonly documents?: Readonly<Record<`/${string}`, (request: RawRequest<Params>) => ViewDocument>>;
  /** Whether raw handlers are told the callers' own bearer tokens, which the server keeps from them otherwise. @default false */
  readonly takesToken?: boolean;
  /**
   * Whether `Impersonate-*` is for the server behind the raw handlers to allow, and not for the rule of this one: hooks are told who
   * asks, and handlers as whom they want to go on. For whoever passes requests on to servers that authorize themselves, as a
   * front proxy does; not beside `resources`. @default false
   */
  readonly passesImpersonation?: boolean;
  /** The raw escape hatch: serves whatever `resources` do not. It owns the response. Authorization has been asked. */
  readonly handle?: (req: IncomingMessage, res: ServerResponse, request: RawRequest<Params>) => Awaitable<void>;
  /** The same for `Connection: Upgrade`. Without it upgrades are refused with a Status; an offer of `h2c` is none. */
  readonly upgrade?: (
    req: IncomingMessage,
    socket: Duplex,
    request: RawRequest<Params> & { readonly head: Buffer },
  ) => Awaitable<void>;
}

/**
 * Checks and types a virtual workspace. Parameters are inferred from `path`.
 *
 * @throws Error on a malformed path or prefix, without `authorize`, when there is neither `resources` nor `handle` nor
 *   `upgrade`, when there is `handleWhen` without `handle`, or `passesImpersonation` beside `resources`, when a document is where something else is, or when there is `locate` or `clusterSuffix` without `:cluster`.
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
    throw new Error(`virtual workspace ${options.name} has nothing to locate: its path has no :cluster`);
  }
  if (options.clusterSuffix === true && !segments.includes(":cluster")) {
    throw new Error(
      `virtual workspace ${options.name} has no cluster that could be repeated: its path has no :cluster`,
    );
  }
  if (typeof options.authorize !== "function") {
    throw new Error(`virtual workspace ${options.name} decides nothing about access: give it authorize`);
  }
  if (options.resources === undefined && options.handle === undefined && options.upgrade === undefined) {
    throw new Error(`virtual workspace ${options.name} serves nothing: give it resources or handle`);
  }
  if (options.handleWhen !== undefined && options.handle === undefined)
    throw new Error(`virtual workspace ${options.name} says what its handler is for, and has none: give it handle`);
  if (options.passesImpersonation === true && options.resources !== undefined)
    throw new Error(
      `virtual workspace ${options.name} passes on who callers want to be, and serves resources itself: leave one out`,
    );
  const misplaced = Object.keys(options.documents ?? {}).find(
    (path) => !/^\/(?!(?:apis?|openapi)(?:\/|$))[^/]/.test(path),
  );
  if (misplaced !== undefined)
    throw new Error(`virtual workspace ${options.name} has a document at ${misplaced}: give it a path of its own`);
  // Parameters are looked up by the names in `path`, which the matcher guarantees.
  return Object.freeze(options) as unknown as VirtualWorkspace;
}

/** One time series: its labels in the order of the family's names, and what is counted. */
export interface MetricSample {
  readonly labels: readonly string[];
  readonly value: number;
}

/** What a histogram has seen of one set of labels. */
export interface MetricDistribution {
  readonly labels: readonly string[];
  /** How many were at most each bound; not cumulated. */
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** A metric and all its series, as they are now. */
export type MetricFamily = {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
} & (
  | { readonly type: "counter" | "gauge"; readonly samples: readonly MetricSample[] }
  | {
      readonly type: "histogram";
      /** The upper bounds of its buckets, rising. */
      readonly bounds: readonly number[];
      readonly samples: readonly MetricDistribution[];
    }
);
