import type { IncomingMessage } from "node:http";
import { timerDelay } from "@virtual-workspaces/transport";
import type { Authenticator, ConnectionFacts } from "./authn/authenticator.ts";
import { IdentityHeaders } from "./authn/headers.ts";
import { deny, type ImpersonationRule } from "./authz/authorization.ts";
import { YamlReader } from "./body/yaml/yaml-reader.ts";
import { DiscoveryDocuments } from "./discovery/discovery-documents.ts";
import { OpenApiDocuments } from "./discovery/openapi/openapi-documents.ts";
import { PiecePool } from "./encode/pieces.ts";
import { Representations } from "./encode/representation.ts";
import { AuthenticationFailureLimiter, type AuthenticationFailureLimits } from "./fairness/authentication-failures.ts";
import { Fairness } from "./fairness/fairness.ts";
import { type RequestLimits, resolveLimits } from "./fairness/fairness-limits.ts";
import { Permissions } from "./hooks/permissions.ts";
import { Revalidation } from "./hooks/revalidation.ts";
import { Mounted } from "./mounted.ts";
import { accessLog, type RequestRecord } from "./observe/access.ts";
import type { Audit } from "./observe/audit/audit.ts";
import { Auditor } from "./observe/audit/auditor.ts";
import { type Log, warningLog } from "./observe/log/log.ts";
import { Meters } from "./observe/metrics/family.ts";
import { type Metrics, ServerMetrics } from "./observe/metrics/metrics.ts";
import type { RequestMeter } from "./observe/metrics/request-meter.ts";
import type { Observer } from "./observe/observer.ts";
import { Tracing } from "./observe/tracing/tracing.ts";
import { PathMatcher } from "./request/path.ts";
import type { Peers } from "./request/raw-request.ts";
import type { Awaitable } from "./util/awaitable.ts";
import { whole } from "./util/numbers.ts";
import type { VirtualWorkspace } from "./virtual-workspace.ts";
import { WatchHub } from "./watch/hub.ts";

/** What a server, or a middleware in somebody else's, is made from. */
export interface CoreOptions {
  readonly virtualWorkspaces: readonly VirtualWorkspace[];
  /** Asked in order; the first that knows the caller decides. With none, every request is 401. */
  readonly authentication: readonly Authenticator[];
  /**
   * Who may go on as whom (Kubernetes' impersonation, `kubectl --as`). Asked once for each part of what `Impersonate-*`
   * headers name, with the verb `impersonate` and the resource `users`, `groups` or `serviceaccounts`, or, in the group
   * `authentication.k8s.io`, `userextras` (the key as subresource) or `uids`. A request may name 2,500 groups and as many
   * values of extra. Whoever may impersonate anybody can do what anybody can. @default nobody
   */
  readonly impersonation?: ImpersonationRule;
  /**
   * Whether who asks says which bearer token the caller has brought on whose behalf they ask (`callersTokenHeaders`): views that
   * take tokens are told that one, and never one by which somebody has authenticated here. For a server that nobody asks but
   * its own process: anybody else could say that any token is a caller's. @default false
   */
  readonly takesCallersTokens?: boolean;
  /**
   * Says where a request goes instead of where its target says: another path and query, told of its target and headers.
   * Asked before anything else is: whoever asks is not known yet, and what is answered, or audited, is the new target. It is
   * no redirect, the client does not learn of it. `undefined`: nowhere else. When it throws, that is logged, and nowhere
   * else either. Routes of an application come before it. @default nowhere else
   */
  readonly retarget?: (request: Pick<IncomingMessage, "url" | "headers">) => string | undefined;
  /** @default errors and warnings become process warnings */
  readonly log?: Log;
  /**
   * Told of every request when it has ended, and of watches when they have begun: an access log. Nobody waits for it; what
   * it throws is logged. @default nobody
   */
  readonly onRequest?: (record: RequestRecord) => Awaitable<void>;
  /** The audit log, made by {@link audit}. @default none */
  readonly audit?: Audit;
  /** How long a request that is no watch may take, ms. `Infinity`: as long as it likes. @default 60000 */
  readonly requestTimeout?: number;
  /** How much is done at a time, and who waits. @default 400 requests, each user and virtual workspace in turn */
  readonly limits?: RequestLimits;
  /** How often one address may fail to authenticate. @default 100 times, then once a second; loopback as often as it likes */
  readonly authenticationFailures?: AuthenticationFailureLimits;
  /** How long a watch lasts whose client does not say, ms; up to twice that, at random. `Infinity`: until it leaves. @default 1800000 */
  readonly minWatchTimeout?: number;
  /** Time between bookmarks, ms. `Infinity`: none but when a watch begins and when it ends. @default 60000 */
  readonly bookmarkEvery?: number;
  /**
   * Other processes that serve the same virtual workspaces, where clients cannot tell which one they have reached: asked
   * for each request about a resource whose storage is `local`. @default there are none
   */
  readonly peers?: Peers;
  /**
   * What `/readyz` asks besides the views, by name: whether what all of them need is there. A check fails by throwing, or
   * by taking longer than half a second; requests are answered all the same. Asked with each probe. @default none
   */
  readonly checks?: Readonly<Record<string, ReadyCheck>>;
}

/** One of the `checks` of a server. `signal` aborts when nobody waits for it any more. */
export type ReadyCheck = (context: { readonly signal: AbortSignal }) => Awaitable<void>;

/** A server within another: its requests are told to that one's observers, and it ends with that one. */
export interface Part {
  readonly core: ServerCore;
  /** Ends what is under way, and resolves when nothing is any more. */
  close(): Promise<void>;
}

/** What else a core is made from, if a server of its own is around it. */
export interface ServerCoreOptions extends CoreOptions {
  readonly metrics?: Metrics;
  /** Of the server that it is a part of. */
  readonly within?: ServerCore;
}

/** Everything that requests share. One for each server; nothing is kept outside of it. */
export class ServerCore implements AsyncDisposable {
  readonly matcher: PathMatcher<Mounted>;
  readonly authentication: readonly Authenticator[];
  readonly connection: ConnectionFacts;
  readonly identityHeaders: IdentityHeaders;
  readonly impersonation: ImpersonationRule;
  readonly takesCallersTokens: boolean;
  readonly peers: Peers | undefined;
  /** Sends a request where it is meant to go, where somebody says that. */
  readonly retarget: ((request: IncomingMessage) => void) | undefined;
  readonly log: Log;
  /** Whoever wants to know of requests. */
  readonly observers: readonly Observer[];
  readonly auditor: Auditor | undefined;
  /** Counts requests, where there are metrics. */
  readonly requests: RequestMeter | undefined;
  /** Servers within this one. */
  readonly parts: Part[] = [];
  /** What parts of the server count. */
  readonly meters: Meters;
  /** What answers at `/metrics`. */
  readonly metrics: Mounted | undefined;
  readonly deadline: number;
  /** The same as a timer takes it. */
  readonly longestDelay: number;
  readonly fairness: Fairness;
  readonly authenticationFailures: AuthenticationFailureLimiter;
  readonly hub: WatchHub;
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
  /** Aborts when the server has begun to stop. */
  readonly ending: AbortSignal = this.#ending.signal;
  #leaving = false;
  #draining = false;

  /** @param connection of all requests; a middleware does not know its server's */
  constructor(options: ServerCoreOptions, connection: ConnectionFacts = { clientCa: [] }) {
    this.log = options.log ?? warningLog;
    this.checks = checksOf(options);
    this.retarget = options.retarget && retargeting(options.retarget, this.log);
    this.peers = options.peers;
    this.connection = connection;
    this.authentication = Object.freeze([...options.authentication]);
    this.identityHeaders = new IdentityHeaders(this.authentication.flatMap((one) => one.identityHeaders ?? []));
    this.impersonation = options.impersonation ?? (() => deny("nobody may impersonate anybody here"));
    this.takesCallersTokens = options.takesCallersTokens === true;
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
    const metrics = options.metrics && new ServerMetrics(this, options.metrics);
    if (metrics !== undefined) this.metrics = new Mounted(metrics.workspace, this.log, this.impersonation);
    this.requests = within?.requests ?? metrics?.requests;
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

  /** True once it is known that the server will stop: `/readyz` fails from then on, and nothing else changes. */
  get leaving(): boolean {
    return this.#leaving;
  }

  /** Has balancers send no more: to be called some time before {@link drain}. */
  leave(): void {
    this.#leaving = true;
  }

  /** True once the server has begun to stop: new requests are 503, open watches have ended. */
  get draining(): boolean {
    return this.#draining;
  }

  /** Sets up every virtual workspace, or, when one fails, none. @throws what a `setup` throws; Error when the audit log cannot be written */
  async start(): Promise<void> {
    try {
      await this.tracing.ready();
      if (!this.#isPart) await this.auditor?.open();
      await this.metrics?.start();
      await Promise.all(this.matcher.views.map((view) => view.start()));
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Turns new requests away and ends all watches cleanly: clients resume elsewhere. */
  drain(): void {
    this.#leaving = true;
    this.#draining = true;
    this.fairness.drain();
    this.hub.end();
    this.#ending.abort();
  }

  /** How long a watch may last, ms: what the client asked, else as Kubernetes a random time, so that they do not all return at once. */
  watchTimeout(seconds: number | undefined): number {
    const asked = seconds !== undefined && seconds > 0;
    return timerDelay(asked ? seconds * 1000 : this.#minWatchTimeout * (1 + Math.random()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.revalidation[Symbol.dispose]();
    this.permissions[Symbol.dispose]();
    await this.yaml[Symbol.asyncDispose]();
    await this.hub[Symbol.asyncDispose]();
    await Promise.all(this.matcher.views.map((view) => view[Symbol.asyncDispose]()));
    await Promise.all(this.parts.map((part) => part.close()));
    if (!this.#isPart) await this.auditor?.[Symbol.asyncDispose]();
  }
}

/** @throws Error on a name that is a view's, or no word: `/readyz` has one namespace */
function checksOf({ checks = {}, virtualWorkspaces }: CoreOptions): ServerCore["checks"] {
  const wrong = Object.keys(checks).find(
    (name) => !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) || virtualWorkspaces.some((view) => view.name === name),
  );
  if (wrong !== undefined)
    throw new Error(
      `checks: ${JSON.stringify(wrong)} must be lower-case letters, digits and dashes, and no view's name`,
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
