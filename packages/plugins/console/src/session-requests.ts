import { ApiError, isWorkspacePath } from "@virtual-workspaces/apimachinery";
import type { User } from "@virtual-workspaces/framework";
import { readBody } from "@virtual-workspaces/framework/request";
import type { Log, PageRequest } from "@virtual-workspaces/framework/server";
import { json, SAFE_HEADERS } from "./page-files.ts";
import type { PanelFiles } from "./panel-files.ts";
import {
  type ConsoleMemory,
  type IssuedToken,
  isFromPage,
  MARK,
  newCode,
  type Session,
  type Sessions,
} from "./sessions.ts";

/** Maximum size of a sign-in, in bytes. */
const LARGEST = 64 * 1024;

interface SessionParts {
  /** Gets a record of each sign-in. */
  readonly log: Log;
  readonly sessions: Sessions;
  readonly memory: ConsoleMemory;
  readonly panels: PanelFiles;
}

/** Requests of sessions: `session`, `acting`, `codes` and `panels` below the path of the console. */
export class SessionRequests {
  readonly #sessions: Sessions;
  readonly #memory: ConsoleMemory;
  readonly #log: Log;
  readonly #panels: PanelFiles;

  constructor({ sessions, memory, log, panels }: SessionParts) {
    this.#panels = panels;
    this.#sessions = sessions;
    this.#memory = memory;
    this.#log = log;
  }

  /** GET: the user; POST: sign in; DELETE: sign out. @throws ApiError */
  async session(request: PageRequest): Promise<void> {
    const { req } = request;
    refuseOthers(request);
    if (req.method === "GET") return this.#show(request);
    if (req.method === "POST") return this.#signIn(request);
    if (req.method === "DELETE") return done(request, this.#sessions.end(req.headers));
    throw ApiError.methodNotAllowed({ group: "", resource: "session" }, req.method ?? "");
  }

  /**
   * POST: seals a user as whom a tab of the session acts, for the header or the subprotocol of its requests.
   *
   * Security: it authorizes nothing. Each request is authorized, as with the `Impersonate-*` headers of other clients.
   *
   * @throws ApiError 400, 401, 403, 413, 415
   */
  async acting(request: PageRequest): Promise<void> {
    const { req, res } = request;
    refuseOthers(request);
    if (req.method !== "POST") throw ApiError.methodNotAllowed({ group: "", resource: "acting" }, req.method ?? "");
    const session = this.#sessions.of(req.headers);
    if (session === undefined) throw ApiError.unauthorized();
    json(res, { acting: this.#sessions.acting.seal(session.id, await bodyOf(request)) });
  }

  /** POST: creates a code for a one-time link, for the caller's bearer token. @throws ApiError */
  async code(request: PageRequest): Promise<void> {
    const { req, res } = request;
    const { authorization } = req.headers;
    if (req.method !== "POST") throw ApiError.methodNotAllowed({ group: "", resource: "codes" }, req.method ?? "");
    // Security: not by a client certificate, which the code could not stand for.
    if (authorization === undefined || !/^bearer /i.test(authorization)) throw ApiError.unauthorized();
    await request.authenticate(authorization);
    const code = newCode();
    await this.#memory.keep(code, authorization);
    json(res, { code });
  }

  /** GET: the panels of the server. @throws ApiError 401, 403, 405 */
  async panels(request: PageRequest): Promise<void> {
    const { req, res } = request;
    refuseOthers(request);
    if (req.method !== "GET") throw ApiError.methodNotAllowed({ group: "", resource: "panels" }, req.method ?? "");
    const session = this.#sessions.of(req.headers);
    if (session === undefined) throw ApiError.unauthorized();
    await authenticateIn(request, session);
    json(res, { panels: await this.#panels.list(request.panels) });
  }

  async #show(request: PageRequest): Promise<void> {
    const { headers } = request.req;
    const session = this.#sessions.of(headers);
    if (session === undefined) throw ApiError.unauthorized();
    const { name, groups } = await authenticateIn(request, session).catch(endedSession(session));
    const acting = this.#sessions.acting.of(headers, session.id);
    json(request.res, {
      user: { username: name, groups },
      expires: new Date(session.expires).toISOString(),
      ...(session.workspace !== undefined && { workspace: session.workspace }),
      // The page learns from its absence that its text is of another session.
      ...(acting !== undefined && acting !== "invalid" && { acting }),
    });
  }

  async #signIn(request: PageRequest): Promise<void> {
    const { token, code, replace, workspace } = await signInOf(request);
    const authorization = code === undefined ? `Bearer ${token}` : await this.#memory.find(code);
    if (authorization === undefined) throw usedLink();
    const found = await authenticateWhere(request, authorization, workspace);
    const { user: name } = found;
    const current = this.#sessions.of(request.req.headers);
    // Security: a link of another party must not make the browser act as that party without the user's knowledge.
    if (code !== undefined && current !== undefined && current.user !== name && replace !== true)
      throw ApiError.conflict({ group: "", resource: "sessions" }, name, `the browser is signed in as ${current.user}`);
    if (code !== undefined && !(await this.#memory.take(code))) throw usedLink();
    const cookies = this.#begin(request, { ...found, authorization }, code === undefined ? "token" : "link");
    if (current !== undefined) this.#sessions.end(request.req.headers);
    done(request, cookies);
  }

  /**
   * Begins the session of a token of an issuer, and ends the one that it replaces, with its watches.
   *
   * @returns the cookies to set
   * @throws ApiError 400, 401, 429, 503
   */
  async begin(request: PageRequest, { authorization, workspace, replaces }: IssuedToken): Promise<readonly string[]> {
    const found = await authenticateWhere(request, authorization, workspace);
    const cookies = this.#begin(request, { ...found, authorization }, "issuer");
    const current = this.#sessions.of(request.req.headers)?.id;
    for (const session of [current, replaces]) if (session !== undefined) this.#memory.end(session);
    return cookies;
  }

  #begin({ req }: PageRequest, session: Parameters<Sessions["begin"]>[0], by: string): readonly string[] {
    const cookies = this.#sessions.begin(session, req.headers);
    if (cookies === undefined)
      throw ApiError.badRequest("the token is too long for a session: use one of at most 11,000 characters");
    const { user, workspace } = session;
    this.#log({
      ...{ level: "info", message: "signed in to the console", user, by },
      ...(workspace !== undefined && { workspace }),
    });
    return cookies;
  }
}

/** Authenticates the token of a session in its workspace, if it has one. @throws ApiError 401, 429, 503 */
function authenticateIn(
  request: PageRequest,
  { authorization, workspace }: Pick<Session, "authorization" | "workspace">,
): Promise<User> {
  return request.authenticate(authorization, workspace === undefined ? undefined : `/clusters/${workspace}`);
}

/**
 * Authenticates a token by the server, or else by the issuers of a workspace's type.
 *
 * @returns the user, and the workspace if only that knows the token
 * @throws ApiError 401, 429, 503
 */
async function authenticateWhere(
  request: PageRequest,
  authorization: string,
  workspace: string | undefined,
): Promise<{ readonly user: string; readonly workspace?: string }> {
  try {
    return { user: (await request.authenticate(authorization)).name };
  } catch (error) {
    if (workspace === undefined || !(error instanceof ApiError) || error.code !== 401) throw error;
    return { user: (await authenticateIn(request, { authorization, workspace })).name, workspace };
  }
}

/** The page says why the user has to sign in again, and to which workspace. @throws ApiError */
function endedSession({ workspace }: Session): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ApiError && error.code === 401)) throw error;
    const { status } = unauthorized("the server no longer accepts the token of this session", "sessions");
    throw new ApiError({
      ...status,
      details: { ...status.details, ...(workspace !== undefined && { name: workspace }) },
    });
  };
}

const usedLink = (): ApiError => unauthorized("the link has been used or is too old: make a new one", "links");

/** A 401 about a session or a link: the page recognizes it by the kind in its details. */
function unauthorized(message: string, kind: "sessions" | "links"): ApiError {
  const { status } = ApiError.unauthorized(message);
  return new ApiError({ ...status, details: { ...status.details, kind } });
}

/** @throws ApiError 403 for requests that the page has not caused */
function refuseOthers({ req }: PageRequest): void {
  if (isFromPage(req.headers)) return;
  throw ApiError.forbidden({
    resource: { group: "", resource: "" },
    message: `only the page of the console may use its sessions: send the header ${MARK.name}: ${MARK.value}`,
  });
}

interface SignIn {
  readonly token?: string;
  readonly code?: string;
  /** Whether a link may replace the session of another user. */
  readonly replace?: boolean;
  /** Path of a workspace that may know the token. */
  readonly workspace?: string;
}

/** @throws ApiError 400, 413, 415 */
async function signInOf(request: PageRequest): Promise<SignIn> {
  const { token, code, replace, workspace } = (await bodyOf(request)) as SignIn;
  const given = [token, code].filter((one) => one !== undefined);
  if (given.length !== 1 || typeof given[0] !== "string" || !/^[\x21-\x7e]+$/.test(given[0]))
    throw ApiError.badRequest(
      'invalid sign-in: send {"token": "…"} with a bearer token, or {"code": "…"} with that of a link',
    );
  if (workspace !== undefined && (typeof workspace !== "string" || !isWorkspacePath(workspace)))
    throw ApiError.badRequest("invalid workspace: use the path of a workspace, such as root:shop");
  return {
    ...(workspace !== undefined && { workspace }),
    ...(token !== undefined && { token }),
    ...(code !== undefined && { code }),
    replace: replace === true,
  };
}

/** @throws ApiError 400, 413, 415 */
async function bodyOf({ req, res }: PageRequest): Promise<object> {
  const body = await readBody(req, { res, limit: LARGEST });
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    if (typeof value === "object" && value !== null) return value;
  } catch {} // reported below
  throw ApiError.badRequest("invalid sign-in: send a JSON object");
}

function done({ res }: PageRequest, cookies: readonly string[]): void {
  res.writeHead(204, { ...SAFE_HEADERS, "Cache-Control": "no-store", "Set-Cookie": [...cookies] }).end();
}
