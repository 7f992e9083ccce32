import type { IncomingMessage } from "node:http";
import type { ServerCore } from "../core.ts";
import type { Exchange } from "../exchange.ts";
import type { Pages } from "../hooks/pages.ts";
import { Http1Request } from "../listener/connections.ts";
import type { VirtualWorkspace } from "../virtual-workspace.ts";
import { authenticateBy, bounded } from "./authenticate.ts";

const attempt = bounded((exchange) => authenticateBy(exchange, ({ core }) => core.pages?.authentication ?? []));

/** Answers a request for the pages of the server, before authentication. */
export function answerPages(exchange: Exchange): void | Promise<void> {
  const { core, req, res, path, search } = exchange;
  if (core.pages === undefined || !isAt(core.pages, path)) return undefined;
  exchange.answered = true;
  return core.pages.answer({
    ...{ req, res, search },
    path: path.slice(core.pages.path.length),
    authenticate: async (authorization) => {
      replaceHeaders(req, { authorization });
      await attempt(exchange);
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
): (req: IncomingMessage) => void {
  return (req) => {
    if (isAt(pages, (req.url ?? "").split("?", 1)[0] ?? "")) return;
    retarget?.(req);
    if (req.headers.cookie === undefined) return;
    try {
      const found = pages.credentials?.(req.headers);
      const { authorization } = req.headers;
      if (found !== undefined) replaceHeaders(req, { authorization, ...found });
    } catch (error) {
      // Security: the cookie of a session must not reach an upstream.
      replaceHeaders(req, { cookie: undefined });
      log({ level: "error", message: "pages failed", error: String(error) });
    }
  };
}

/** Replaces headers in every form in which they can be read; `undefined` removes one. Names are in lower case. */
function replaceHeaders(req: IncomingMessage, changes: Readonly<Record<string, string | undefined>>): void {
  const { headers, rawHeaders } = req;
  const isMade = !(req instanceof Http1Request) || req.isDistinct;
  const distinct = isMade ? req.headersDistinct : undefined;
  const lines = rawHeaders.filter((_text, at) => !((rawHeaders[at - (at % 2)] as string).toLowerCase() in changes));
  for (const [name, value] of Object.entries(changes)) {
    delete headers[name];
    if (distinct !== undefined) delete distinct[name];
    if (value === undefined) continue;
    headers[name] = value;
    if (distinct !== undefined) distinct[name] = [value];
    lines.push(name, value);
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
