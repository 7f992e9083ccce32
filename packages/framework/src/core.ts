import type { IncomingMessage } from "node:http";
import { timerDelay } from "@virtual-workspaces/transport";
import type { Authenticator, ConnectionFacts } from "./authn/authenticator.ts";
import { IdentityHeaders } from "./authn/headers.ts";
import { IgnoredIdentities } from "./authn/ignored-identities.ts";
import { KnownImpersonations } from "./authn/known-impersonations.ts";
import { deny, type ImpersonationRule } from "./authz/authorization.ts";
import { YamlReader } from "./body/yaml/yaml-reader.ts";
import { DiscoveryDocuments } from "./discovery/discovery-documents.ts";
import { OpenApiDocuments } from "./discovery/openapi/openapi-documents.ts";
import { PiecePool } from "./encode/pieces.ts";
import { Representations } from "./encode/representation.ts";
import { AuthenticationFailureLimiter, type AuthenticationFailureLimits } from "./fairness/authentication-failures.ts";
import { Fairness } from "./fairness/fairness.ts";
import { type RequestLimits, resolveLimits } from "./fairness/fairness-limits.ts";
import type { Intercept } from "./hooks/intercept.ts";
import { type Pages, panelsOf } from "./hooks/pages.ts";
import { Permissions } from "./hooks/permissions.ts";
import { Revalidation } from "./hooks/revalidation.ts";
import { AllowedOrigins } from "./listener/allowed-origins.ts";
import { Mounted } from "./mounted.ts";
import { accessLog, type RequestRecord } from "./observe/access.ts";
import type { Audit } from "./observe/audit/audit.ts";
import { Auditor } from "./observe/audit/auditor.ts";
import { type Component, ComponentPages } from "./observe/component-pages.ts";
import { type Log, warningLog } from "./observe/log/log.ts";
import { Meters } from "./observe/metrics/family.ts";
import { METRICS_PATH, type Metrics, ServerMetrics } from "./observe/metrics/metrics.ts";
import type { RequestMeter } from "./observe/metrics/request-meter.ts";
import type { Observer } from "./observe/observer.ts";
import { Tracing } from "./observe/tracing/tracing.ts";
import type { ServedPanel } from "./panel/panel.ts";
import { PathMatcher } from "./request/path.ts";
import type { Peers } from "./request/raw-request.ts";
import type { Awaitable } from "./util/awaitable.ts";
import { whole } from "./util/numbers.ts";
import type { VirtualWorkspace } from "./virtual-workspace.ts";
import { WatchHub } from "./watch/hub.ts";
import { WatchSockets } from "./watch/web-sockets.ts";

/** Options of a server, or of a middleware in another server. */
export interface CoreOptions {
  readonly virtualWorkspaces: readonly VirtualWorkspace[];
  /** Authenticators, called in order; the first one that recognizes the caller decides. With none, every request is 401. */
  readonly authentication: readonly Authenticator[];
  /**
   * Decides who may impersonate whom (Kubernetes' impersonation, `kubectl --as`). The server calls it once for each part of
   * the `Impersonate-*` headers, with the verb `impersonate` and the resource `users`, `groups` or `serviceaccounts`, or, in
   * the group `authentication.k8s.io`, `userextras` (the key as subresource) or `uids`. A request may name 2,500 groups and
   * as many values of extra.
   *
   * Security: a user who may impersonate everyone can do what anyone can.
   * @default no impersonation
   */
  readonly impersonation?: ImpersonationRule;
  /**
   * Whether the client states the bearer token of the caller it acts for (`callersTokenHeaders`). Views that take tokens then
   * get that token, and never one that authenticated a caller of this server.
   *
   * Security: enable this only for a server that nothing but its own process can reach. Any other client could claim any
   * token.
   * @default false
   */
  readonly takesCallersTokens?: boolean;
  /**
   * Maps a request to another target, from its own target and headers: another path and query. The server calls it first,
   * before authentication, so responses and audit events show the new target. This is no redirect: the client does not
   * notice. `undefined` keeps the target. An exception is logged and also keeps the target. Routes of an application and
   * pages come first.
   * @default keep the target
   */
  readonly retarget?: (request: Pick<IncomingMessage, "url" | "headers">) => string | undefined;
  /**
   * Called with each request after authentication and impersonation, before the concurrency limit and `authorize`: a filter
   * of the handler chain, in Kubernetes' words. It may wait. An ApiError that it throws is the answer; it returns `true`
   * when it has written one itself. Probes and requests that no view serves are not intercepted.
   *
   * Security: it sees requests before they are authorized, and an answer of its own is not authorized at all.
   * @default none
   */
  readonly intercept?: Intercept;
  /** @default errors and warnings become process warnings */
  readonly log?: Log;
  /**
   * Called with every request when it has ended, and with watches when they have begun: an access log. The server does not
   * wait for it, and logs what it throws.
   * @default none
   */
  readonly onRequest?: (record: RequestRecord) => Awaitable<void>;
  /** The audit log, made by {@link audit}. @default none */
  readonly audit?: Audit;
  /** Time limit of a request that is not a watch, ms. `Infinity`: no limit. @default 60000 */
  readonly requestTimeout?: number;
  /** Concurrency limits and queueing. @default 400 requests, fair between virtual workspaces and users */
  readonly limits?: RequestLimits;
  /**
   * Origins of browser pages that may read responses (CORS) and open WebSockets: regular expressions (RE2), as kube-apiserver's
   * `--cors-allowed-origins`. Each must be anchored at both ends of the host: `^https://console\\.example\\.com$`.
   *
   * Security: such a page acts with its visitor's client certificate and cookies. Without the option, only pages of the
   * server's own origin may open WebSockets. Preflight requests of an allowed origin are answered before authentication.
   * @default none
   */
  readonly corsAllowedOrigins?: readonly string[];
  /** How often one address may fail to authenticate. @default 100 times, then once a second; no limit for loopback */
  readonly authenticationFailures?: AuthenticationFailureLimits;
  /**
   * Duration of a watch whose client names none, ms; up to twice that, at random. `Infinity`: until the client leaves.
   * @default 1800000
   */
  readonly minWatchTimeout?: number;
  /** Time between bookmarks, ms. `Infinity`: only when a watch begins and when it ends. @default 60000 */
  readonly bookmarkEvery?: number;
  /**
   * Other processes that serve the same virtual workspaces behind one address. Called for each request about a resource whose
   * storage is `local`.
   * @default no peers
   */
  readonly peers?: Peers;
  /**
   * Checks of `/readyz` besides the views, by name, for what all views need. A check fails by throwing, or by taking longer
   * than half a second; the server answers requests all the same. Runs with each probe.
   * @default none
   */
  readonly checks?: Readonly<Record<string, ReadyCheck>>;
}

/** Readiness check of a server. `signal` aborts when the probe no longer waits for it. */
export type ReadyCheck = (context: { readonly signal: AbortSignal }) => Awaitable<void>;

/** A server within another one. The outer server observes its requests and closes it. */
export interface Part {
  readonly core: ServerCore;
  /** Ends requests under way, and resolves when none is left. */
  close(): Promise<void>;
}

/** Options of a core that has a server of its own around it. */
export interface ServerCoreOptions extends CoreOptions {
  readonly pages?: Pages;
  readonly metrics?: Metrics;
  readonly component?: Component;
  /** Core of the server that contains this one. */
  readonly within?: ServerCore;
}

/** State that requests share. One for each server; nothing is kept outside of it. */
export class ServerCore implements AsyncDisposable {
  readonly matcher: PathMatcher<Mounted>;
  readonly authentication: readonly Authenticator[];
  readonly connection: ConnectionFacts;
  readonly identityHeaders: IdentityHeaders;
  readonly ignoredIdentities: IgnoredIdentities;
  readonly impersonation: ImpersonationRule;
  readonly impersonations: KnownImpersonations = new KnownImpersonations();
  readonly takesCallersTokens: boolean;
  /** Origins of pages that may use the server, if there are any. */
  readonly origins: AllowedOrigins | undefined;
  readonly peers: Peers | undefined;
  /** Applies the `retarget` option to a request, where there is one. */
  readonly retarget: ((request: IncomingMessage) => void) | undefined;
  readonly intercept: Intercept | undefined;
  readonly pages: Pages | undefined;
  /** Panels of the pages. */
  readonly panels: readonly ServedPanel[];
  readonly log: Log;
  /** Observers of requests. */
  readonly observers: readonly Observer[];
  readonly auditor: Auditor | undefined;
  readonly metrics: ServerMetrics | undefined;
  /** Counts requests, where there are metrics. */
  readonly requests: RequestMeter | undefined;
  /** Servers within this one. */
  readonly parts: Part[] = [];
  /** Counters of the parts of the server. */
  readonly meters: Meters;
  /** The server's views of its own, by path: `/metrics`, `/statusz`, `/flagz`. */
  readonly ownViews: ReadonlyMap<string, Mounted>;
  readonly deadline: number;
  /** The request timeout as a timer accepts it. */
  readonly longestDelay: number;
  readonly fairness: Fairness;
  readonly authenticationFailures: AuthenticationFailureLimiter;
  readonly hub: WatchHub;
  readonly webSockets: WatchSockets = new WatchSockets(() => this.#draining);
  readonly representations: Representations = new Representations();
  readonly pieces: PiecePool = new PiecePool();
  readonly discovery: DiscoveryDocuments = new DiscoveryDocuments();
  readonly openapi: OpenApiDocuments = new OpenApiDocuments();
  readonly revalidation: Revalidation;
  readonly permissions: Permissions;
  readonly yaml: YamlReader = new YamlReader();
  readonly tracing: Tracing = new Tracing();
  readonly checks: readonly (readonly [string, ReadyCheck])[];
  readonly #minWatchTimeout: number;
  readonly #isPart: boolean;
  readonly #ending = new AbortController();
  /** Aborts when the server begins to drain. */
  readonly ending: AbortSignal = this.#ending.signal;
  #leaving = false;
  #draining = false;

  /** @param connection facts about the connection of all requests; a middleware does not know those of its server */
  constructor(options: ServerCoreOptions, connection: ConnectionFacts = { clientCa: [] }) {
    this.log = options.log ?? warningLog;
    this.checks = checksOf(options);
    this.retarget = options.retarget && retargeting(options.retarget, this.log);
    this.peers = options.peers;
    this.intercept = options.intercept;
    this.pages = options.pages;
    this.panels = options.pages === undefined ? [] : panelsOf(options.pages, options.virtualWorkspaces);
    this.connection = connection;
    this.authentication = Object.freeze([...options.authentication]);
    this.identityHeaders = new IdentityHeaders(this.authentication.flatMap((one) => one.identityHeaders ?? []));
    this.ignoredIdentities = new IgnoredIdentities(this);
    this.impersonation = options.impersonation ?? (() => deny("this server has no impersonation rule"));
    this.takesCallersTokens = options.takesCallersTokens === true;
    const { corsAllowedOrigins = [] } = options;
    this.origins = corsAllowedOrigins.length === 0 ? undefined : new AllowedOrigins(corsAllowedOrigins);
    this.deadline = whole("requestTimeout", options.requestTimeout ?? 60_000, 1);
    this.longestDelay = timerDelay(this.deadline);
    this.fairness = new Fairness(resolveLimits(options.limits ?? {}, options.virtualWorkspaces.length), this.deadline);
    const { audit, onRequest, within } = options;
    this.#isPart = within !== undefined;
    this.meters = within?.meters ?? new Meters();
    const { waiting } = this.meters;
    this.meters.waiting = () => waiting() + this.fairness.stats.queued;
    this.authenticationFailures = new AuthenticationFailureLimiter(
      options.authenticationFailures ?? {},
      this.identityHeaders,
    );
    if (within !== undefined) this.auditor = within.auditor;
    else if (audit !== undefined) this.auditor = new Auditor({ audit, log: this.log, patience: this.deadline / 2 });
    this.metrics = options.metrics && new ServerMetrics(this, options.metrics);
    this.ownViews = this.#ownViews(this.metrics, options.component);
    this.requests = within?.requests ?? this.metrics?.requests;
    const observers = [onRequest && accessLog(onRequest), this.auditor, this.requests];
    this.observers = observers.filter((one) => one !== undefined);
    this.#minWatchTimeout = whole("minWatchTimeout", options.minWatchTimeout ?? 1_800_000, 1);
    this.matcher = new PathMatcher(
      options.virtualWorkspaces.map((workspace) => new Mounted(workspace, this.log, this.impersonation)),
    );
    this.revalidation = new Revalidation(this.log);
    this.permissions = new Permissions(this.log);
    this.hub = new WatchHub({
      bookmarkEvery: whole("bookmarkEvery", options.bookmarkEvery ?? 60_000, 1),
      onError: (error, { definition }) =>
        this.log({
          level: "warn",
          message: "source failed, retrying",
          resource: definition.plural,
          error: String(error),
        }),
    });
  }

  /** True once the server is about to stop: `/readyz` fails from then on, and nothing else changes. */
  get leaving(): boolean {
    return this.#leaving;
  }

  /** Lets `/readyz` fail, so that load balancers send no more requests. Call it some time before {@link drain}. */
  leave(): void {
    this.#leaving = true;
  }

  /** True once the server drains: new requests are 503, open watches have ended. */
  get draining(): boolean {
    return this.#draining;
  }

  /**
   * Sets up every virtual workspace, or none if one fails.
   * @throws what a `setup` throws; Error when the audit log cannot be written
   */
  async start(): Promise<void> {
    try {
      await this.tracing.ready();
      if (!this.#isPart) await this.auditor?.open();
      await Promise.all([...new Set(this.ownViews.values())].map((view) => view.start()));
      await Promise.all(this.matcher.views.map((view) => view.start()));
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Rejects new requests and ends all watches cleanly: clients resume elsewhere. */
  drain(): void {
    this.#leaving = true;
    this.#draining = true;
    this.fairness.drain();
    this.hub.end();
    this.#ending.abort();
  }

  /**
   * Returns the duration of a watch, ms: the client's value, else a random one as in Kubernetes, so that clients do not
   * reconnect together.
   */
  watchTimeout(seconds: number | undefined): number {
    const asked = seconds !== undefined && seconds > 0;
    return timerDelay(asked ? seconds * 1000 : this.#minWatchTimeout * (1 + Math.random()));
  }

  #ownViews(metrics: ServerMetrics | undefined, component: Component | undefined): ReadonlyMap<string, Mounted> {
    const views = new Map<string, Mounted>();
    const add = (paths: readonly string[], workspace: VirtualWorkspace): void => {
      const mounted = new Mounted(workspace, this.log, this.impersonation);
      for (const path of paths) views.set(path, mounted);
    };
    if (metrics !== undefined) add([METRICS_PATH], metrics.workspace);
    const pages = component && new ComponentPages(component, [...views.keys()], () => this.matcher.views);
    if (pages !== undefined) add(pages.paths, pages.workspace);
    return views;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.revalidation[Symbol.dispose]();
    this.permissions[Symbol.dispose]();
    await this.yaml[Symbol.asyncDispose]();
    this.webSockets[Symbol.dispose]();
    await this.hub[Symbol.asyncDispose]();
    await Promise.all(this.matcher.views.map((view) => view[Symbol.asyncDispose]()));
    await Promise.all(this.parts.map((part) => part.close()));
    if (!this.#isPart) await this.auditor?.[Symbol.asyncDispose]();
  }
}

/** @throws Error on an invalid name, or the name of a view: `/readyz` has one namespace */
function checksOf({ checks = {}, virtualWorkspaces }: CoreOptions): ServerCore["checks"] {
  const wrong = Object.keys(checks).find(
    (name) => !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) || virtualWorkspaces.some((view) => view.name === name),
  );
  if (wrong !== undefined)
    throw new Error(
      `invalid check name ${JSON.stringify(wrong)}: use lower-case letters, digits and dashes, and no view's name`,
    );
  return Object.entries(checks);
}

function retargeting(retarget: NonNullable<CoreOptions["retarget"]>, log: Log): (request: IncomingMessage) => void {
  return (request) => {
    try {
      request.url = retarget(request) ?? request.url ?? "/";
    } catch (error) {
      log({ level: "error", message: "retarget failed", error: String(error) });
    }
  };
}
