import { type IncomingMessage, METHODS, type ServerResponse } from "node:http";
import { ApiError, parseDuration, quote } from "@virtual-workspaces/apimachinery";
import type { ReadyCheck } from "../core.ts";
import { respond, respondStatus } from "../encode/respond.ts";
import type { Exchange, MatchedExchange } from "../exchange.ts";
import { shuttingDown } from "../fairness/fairness.ts";
import { closeBehindAnswer, mayBeShortened, problem } from "../listener/malformed.ts";
import type { Mounted } from "../mounted.ts";
import { requestInfo } from "../request/request-info.ts";
import { isWatchSocket } from "../watch/web-sockets.ts";
import { cors } from "./origins.ts";
import { answerPages } from "./pages.ts";

/** Maximum number of query parameters, far above Kubernetes clients'. Node parses 1000 in 1 ms, and more in quadratic time. */
const MOST_PARAMETERS = 1000;

const KNOWN: ReadonlySet<string> = new Set(METHODS);

/** Sends the request's ID, in Kubernetes' header, and rejects requests that arrive after the server began to drain. */
export function accept(exchange: Exchange): void {
  const { req, res, core, path } = exchange;
  res.setHeader("Audit-Id", exchange.requestId);
  // HTTP/2 allows any word as a method.
  if (!KNOWN.has(req.method ?? "")) throw problem(405, "invalid HTTP method: use uppercase letters");
  if (req.headers.host === undefined && req.httpVersion !== "1.0")
    throw ApiError.badRequest("the Host header is missing");
  refuseCrowded(exchange.search);
  refuseDoubled(req.rawHeaders);
  refuseEncoded(req, res);
  if (mayBeShortened(req)) throw problem(431, "too many header lines: set maxHeadersCount of the server to 0");
  core.identityHeaders.refuseListed(req);
  if (core.origins !== undefined) cors(exchange, core.origins);
  if (exchange.answered) return;
  if (!core.ending.aborted || isProbe(path)) return;
  throw shuttingDown(exchange);
}

/** Rejects a query with too many parameters before anything parses it. */
function refuseCrowded(search: string): void {
  if (search.length < MOST_PARAMETERS) return;
  let parameters = 1;
  for (let at = search.indexOf("&"); at !== -1; at = search.indexOf("&", at + 1)) {
    parameters++;
    if (parameters > MOST_PARAMETERS)
      throw ApiError.badRequest(`the query has more than ${MOST_PARAMETERS} parameters: send fewer`);
  }
}

/** Rejects repeated headers. Security: Node would use the first, and a proxy or an upstream perhaps another. */
function refuseDoubled(rawHeaders: readonly string[]): void {
  let hosts = 0;
  let authorizations = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const { length } = rawHeaders[at] as string;
    if (length === 4 && rawHeaders[at]?.toLowerCase() === "host") hosts++;
    else if (length === 13 && rawHeaders[at]?.toLowerCase() === "authorization") authorizations++;
  }
  if (hosts > 1) throw ApiError.badRequest("the request names two hosts: send one Host header");
  if (authorizations > 1) throw ApiError.badRequest("two Authorization headers: send one");
}

/** Rejects encodings other than chunked: Node reads a compressed body as plain, and older versions an unnamed one as empty. */
function refuseEncoded({ headers }: IncomingMessage, res: ServerResponse): void {
  const encoding = headers["transfer-encoding"];
  if (encoding === undefined || encoding.toLowerCase() === "chunked") return;
  res.shouldKeepAlive = false;
  throw ApiError.badRequest("unsupported transfer encoding: use chunked");
}

function isProbe(path: string): boolean {
  return path === "/livez" || path === "/readyz" || path.startsWith("/readyz/");
}

/** Answers `/livez`, `/readyz` and `/readyz/<virtual workspace or check>` before authentication. */
export function health(exchange: Exchange): void | Promise<void> {
  const { path } = exchange;
  if (path === "/livez") return answer(exchange, [{ name: "ping", ok: true }]);
  if (path !== "/readyz" && !path.startsWith("/readyz/")) return undefined;
  return readyz(exchange, path.slice("/readyz/".length));
}

/** Answers requests for the pages of the server, if it has any, before authentication. */
export function pages(exchange: Exchange): void | Promise<void> {
  return exchange.core.pages === undefined ? undefined : answerPages(exchange);
}

interface Check {
  readonly name: string;
  readonly ok: boolean;
}

async function readyz(exchange: Exchange, only: string): Promise<void> {
  const { core } = exchange;
  const views = core.matcher.views.filter((view) => only === "" || view.name === only);
  const others = core.checks.filter(([name]) => only === "" || name === only);
  if (only !== "" && views.length + others.length === 0) throw ApiError.notFoundPath();
  const checks = await Promise.all([...views.map(checkOf), ...others.map(ask)]);
  answer(exchange, [{ name: "shutdown", ok: !core.leaving }, ...checks]);
}

/** How long a probe waits for a `ready` hook, in ms: a kubelet waits one second. */
const PATIENCE = 500;

async function checkOf(view: Mounted): Promise<Check> {
  const answered = await within(PATIENCE, view.check());
  return { name: view.name, ok: answered && view.problem() === undefined };
}

/** Runs one of the server's own checks. */
async function ask([name, check]: readonly [string, ReadyCheck]): Promise<Check> {
  const controller = new AbortController();
  let ok = false;
  const asked = async (): Promise<void> => {
    try {
      await check({ signal: controller.signal });
      ok = true;
    } catch {} // Security: callers without credentials do not learn the reason
  };
  const answered = await within(PATIENCE, asked());
  controller.abort();
  return { name, ok: answered && ok };
}

function within(patience: number, pending: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, patience, false);
    void pending.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/** Answers as Kubernetes' healthz: `ok`, or one line per check. Security: gives no reasons, since anyone may ask. */
function answer(exchange: Exchange, checks: readonly Check[]): void {
  exchange.answered = true;
  const ok = checks.every((check) => check.ok);
  const name = exchange.path.slice(1);
  const lines = checks.map((check) => (check.ok ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`));
  const text =
    ok && !exchange.query.has("verbose")
      ? "ok"
      : `${[...lines, `${name} check ${ok ? "passed" : "failed"}`].join("\n")}\n`;
  const body = Buffer.from(text);
  respond(exchange.res, {
    code: ok ? 200 : 503,
    contentType: "text/plain; charset=utf-8",
    body,
    headers: { "X-Content-Type-Options": "nosniff" },
  });
}

/** Finds the virtual workspace. Rejects a malformed URL at once, an unknown one after authentication. */
export function match(exchange: Exchange): void {
  const own = exchange.core.ownViews.get(exchange.path);
  if (own !== undefined) {
    exchange.mounted = own;
    exchange.tail = exchange.path;
    return;
  }
  const found = exchange.core.matcher.match(exchange.path);
  if (found.kind === "bad-request") throw found.error;
  if (found.kind === "no-match") {
    exchange.unknown = found.error;
    return;
  }
  exchange.misfit = found.misfit;
  exchange.mounted = found.view;
  exchange.params = found.params;
  exchange.prefix = found.prefix;
  exchange.tail = found.tail;
}

/** Determines the subject of the request. @throws ApiError 429 when too many open-ended requests are open at a server that dispatched it */
export function info(exchange: Exchange): void {
  if (exchange.unknown !== undefined) return;
  const found = requestInfo(exchange);
  const upgrade = exchange.upgradeHead !== undefined;
  exchange.info = upgrade ? { ...found, longRunning: true, upgrade: !isWatchSocket(exchange.req, found) } : found;
  // A compressing middleware of an application would hold back events until its buffer is full.
  if (!exchange.info.longRunning) return;
  delete exchange.req.headers["accept-encoding"];
  exchange.dispatched?.takeTime();
}

/**
 * Limits how long a request may take (Kubernetes' request timeout), or less if the client sets `timeout`. The limit starts
 * before authentication, so that no hook blocks a request forever. A response that has begun may finish, and a long-running
 * request only has to begin in time.
 *
 * @throws ApiError 400 on a `timeout` that is no duration
 */
export function deadline(exchange: Exchange): void {
  exchange.allowed = allowedTime(exchange, exchange.core.deadline);
}

/** Starts the deadline of a request that goes on after its first turn: most are answered within it, or have none. */
export function startDeadline(exchange: Exchange): void {
  const { res, core, allowed } = exchange;
  if (allowed === 0 || exchange.deadline !== undefined || res.headersSent || res.destroyed) return;
  const late = (): void => {
    if (res.headersSent || res.destroyed) return;
    closeBehindAnswer(exchange.req, res);
    const error = ApiError.timeout(`the request did not finish within ${allowed / 1000} s`, 0);
    exchange.expire(error);
    respondStatus(res, error);
  };
  exchange.deadline = setTimeout(late, Math.min(allowed, core.longestDelay)).unref();
}

/** Lifts the deadline of requests that last as long as the client likes. */
export function liftDeadline(exchange: MatchedExchange): void {
  if (exchange.info.longRunning || exchange.mounted.rawTail) exchange.liftDeadline();
}

function allowedTime({ search, query, unknown }: Exchange, most: number): number {
  if (unknown !== undefined) return most;
  const text = search.includes("timeout=") ? (query.get("timeout") ?? "") : "";
  if (text === "") return most;
  const asked = parseDuration(text);
  if (asked === undefined) {
    const shown = text.length > SHOWN ? `${quote(text.slice(0, SHOWN))}…` : quote(text);
    throw ApiError.badRequest(
      `invalid timeout specified in the request URL - ${shown} is not a duration such as 30s or 1m30s`,
    );
  }
  return asked > 0 ? Math.min(asked, most) : most;
}

/** Maximum length of an invalid duration in an error, in characters. */
const SHOWN = 40;
