import type { IncomingMessage } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { ServerCore } from "../core.ts";
import type { Exchange } from "../exchange.ts";
import type { PageCredentials, Pages } from "../hooks/pages.ts";
import { Http1Request } from "../listener/connections.ts";
import { UNAUTHENTICATED } from "../request/user.ts";
import type { VirtualWorkspace } from "../virtual-workspace.ts";
import { authenticateBy, authenticatorsAt, bounded } from "./authenticate.ts";

/** Authenticates the caller by the server's authenticators, those at the path `at`, and those of the pages. */
const attempt = (exchange: Exchange, at: string | undefined): void | Promise<void> =>
  bounded(() => {
    const pending = authenticateBy(exchange, ({ core: { pages, matcher } }) => {
      const everywhere = pages?.authentication ?? [];
      const found = at === undefined ? undefined : matcher.match(at);
      if (found?.kind !== "match") return everywhere;
      const own = authenticatorsAt(exchange, { ...found, mounted: found.view });
      return [...(pages?.authenticationAt?.(found.params) ?? []), ...own, ...everywhere];
    });
    return pending === undefined ? requireKnown(exchange) : pending.then(() => requireKnown(exchange));
  })(exchange);

/** Security: a view that forwards unknown callers takes any token. @throws ApiError 401 for an anonymous caller */
function requireKnown(exchange: Exchange): void {
  if (exchange.user?.groups.includes(UNAUTHENTICATED) !== true) return;
  exchange.user = undefined;
  throw ApiError.unauthorized();
}

/** Answers a request for the pages of the server, before authentication. */
export function answerPages(exchange: Exchange): void | Promise<void> {
  const { core, req, res, path, search } = exchange;
  if (core.pages === undefined || !isAt(core.pages, path)) return undefined;
  exchange.answered = true;
  // Security: the query of a page may contain the one-time code of an issuer, which no audit event may have.
  exchange.search = "";
  return core.pages.answer({
    ...{ req, res, search, panels: core.panels },
    path: path.slice(core.pages.path.length),
    authenticate: async (authorization, at) => {
      replaceHeaders(req, { authorization: [authorization] });
      await attempt(exchange, at);
      if (exchange.user === undefined) throw new Error("the request is not authenticated");
      return exchange.user;
    },
  });
}

/** Whether a path is that of the pages, or below it. */
export function isAt({ path: at }: Pages, path: string): boolean {
  return path.startsWith(at) && (path.length === at.length || path[at.length] === "/");
}

/** Returns what prepares requests for anything but the pages: their target, and the credentials of their session. */
export function preparedFor(
  pages: Pages,
  { log, retarget }: Pick<ServerCore, "log" | "retarget">,
): (req: IncomingMessage) => PageCredentials | undefined {
  return (req) => {
    if (isAt(pages, (req.url ?? "").split("?", 1)[0] ?? "")) return undefined;
    retarget?.(req);
    if (req.headers.cookie === undefined) return undefined;
    try {
      const found = pages.credentials?.(req.headers);
      if (found !== undefined) replaceHeaders(req, changesOf(found));
      return found;
    } catch (error) {
      // Security: the cookie of a session must not reach an upstream.
      replaceHeaders(req, { cookie: [] });
      log({ level: "error", message: "pages failed", error: String(error) });
      return undefined;
    }
  };
}

/** Ends a request when its session ends. */
export function endWithSession(session: PageCredentials, { core, stream }: Exchange): void {
  if (session.opened === undefined || stream.destroyed) return;
  try {
    const closed = session.opened(() => void stream.destroy());
    stream.once("close", closed);
  } catch (error) {
    // Security: it would outlive its session.
    stream.destroy();
    core.log({ level: "error", message: "pages failed", error: String(error) });
  }
}

type Changes = Readonly<Record<string, readonly string[]>>;

function changesOf({ authorization, cookie, headers }: PageCredentials): Changes {
  const own = { cookie: cookie === undefined ? [] : [cookie], ...headers };
  return authorization === undefined ? own : { ...own, authorization: [authorization] };
}

/** Replaces headers in every form in which they can be read; no value removes one. Names are in lower case. */
function replaceHeaders(req: IncomingMessage, changes: Changes): void {
  const { headers, rawHeaders } = req;
  const isMade = !(req instanceof Http1Request) || req.isDistinct;
  const distinct = isMade ? req.headersDistinct : undefined;
  const lines = rawHeaders.filter((_text, at) => !((rawHeaders[at - (at % 2)] as string).toLowerCase() in changes));
  for (const [name, values] of Object.entries(changes)) {
    delete headers[name];
    if (distinct !== undefined) delete distinct[name];
    if (values.length === 0) continue;
    headers[name] = values.join(", ");
    if (distinct !== undefined) distinct[name] = [...values];
    for (const value of values) lines.push(name, value);
  }
  req.rawHeaders = lines;
}

/** @throws Error on a path that is not one segment, or that the server or a view has */
export function checkPages({ path }: Pages, virtualWorkspaces: readonly VirtualWorkspace[]): void {
  const wrong = (why: string): Error => new Error(`invalid path ${JSON.stringify(path)} of pages: ${why}`);
  if (!/^\/[a-z0-9]+(-[a-z0-9]+)*$/.test(path)) throw wrong("use one segment of a path, such as /console");
  if (RESERVED.has(path)) throw wrong("the server has this path: use another one");
  const taken = virtualWorkspaces.find(({ prefix }) => prefix === path || prefix?.startsWith(`${path}/`));
  if (taken !== undefined) throw wrong(`the virtual workspace "${taken.name}" has it: use another one`);
}

/** Paths of API servers. */
const RESERVED: ReadonlySet<string> = new Set(
  [
    "api",
    "apis",
    "clusters",
    "flagz",
    "healthz",
    "livez",
    "metrics",
    "openapi",
    "readyz",
    "services",
    "statusz",
    "version",
  ].map((name) => `/${name}`),
);
