import { randomBytes } from "node:crypto";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Authenticator } from "@virtual-workspaces/framework";
import { readBody } from "@virtual-workspaces/framework/request";
import { type Log, type PageRequest, type Pages, warningLog } from "@virtual-workspaces/framework/server";
import { type OidcClient, OidcSignIns } from "./oidc.ts";
import { PageFiles, SAFE_HEADERS } from "./page-files.ts";
import { type ConsoleMemory, isFromPage, MARK, newCode, ProcessMemory, Sealed, Sessions } from "./sessions.ts";

/** Options of {@link createConsole}. */
export interface ConsoleOptions {
  /** Path of the page on its server: one segment. @default "/console" */
  readonly path?: string;
  /**
   * Key that encrypts sessions: 32 random bytes, the same in all processes behind one address.
   *
   * Security: the key opens every session. A new key ends them all.
   * @default a random one: sessions end with the process
   */
  readonly key?: Buffer;
  /** Time after which a user signs in again, ms. A token that expires earlier ends the session earlier. @default 43200000, 12 hours */
  readonly lifetime?: number;
  /** Time in which a one-time link works, ms. @default 3600000, one hour */
  readonly linkLifetime?: number;
  /**
   * Authenticators of sign-ins that the server's own do not recognize: of tokens that a front proxy forwards to its upstreams.
   * @default none
   */
  readonly authentication?: readonly Authenticator[];
  /** Issuers at which users sign in by OpenID Connect. @default none */
  readonly oidc?: readonly OidcClient[];
  /**
   * Memory of one-time codes and ended sessions, which processes behind one address share.
   * @default that of this process, {@link createConsoleMemory}
   */
  readonly memory?: ConsoleMemory;
  /** Gets a record of each sign-in. @default errors and warnings become process warnings */
  readonly log?: Log;
}

/** The console of a server. */
export interface Console {
  /** For the option `pages` of the server. */
  readonly pages: Pages;
  /**
   * Returns a link that signs a browser in, once.
   *
   * Security: the first browser that opens the link acts with this token. The code is in the fragment of the URL, which browsers send to
   * no server.
   *
   * @param base URL of the server
   * @param token bearer token of the user to sign in
   */
  link(base: string, token: string): string;
}

/** Maximum size of a sign-in, in bytes. */
const LARGEST = 64 * 1024;
const HOUR = 3_600_000;

/**
 * Creates the console: a web page for workspaces and their resources, served by the server itself. The browser signs in with a
 * token, which stays in an encrypted cookie, and the page then uses the server's API with the rights of that user.
 *
 * Security: the page is served without authentication, and has no data. The session's cookie is honored only for requests that
 * the page itself makes, and is forwarded to no mount or view.
 *
 * @throws Error on a key that is not 32 bytes long
 *
 * @example
 * ```ts
 * import { createConsole } from "@virtual-workspaces/console";
 * import { createServer, staticTokens } from "@virtual-workspaces/framework";
 * import { generatedTls } from "@virtual-workspaces/framework/tls";
 *
 * const { tls } = await generatedTls({ dir: "tls" });
 * const page = createConsole();
 * const authentication = [staticTokens({ "a-long-random-token": { name: "ann" } })];
 * const server = createServer({ virtualWorkspaces: [], authentication, tls, pages: page.pages });
 * const { url } = await server.listen({ port: 0 });
 * console.log(page.link(url, "a-long-random-token"));
 * ```
 * @see docs/how-to/console.md
 */
export function createConsole(options: ConsoleOptions = {}): Console {
  const { path = "/console", key = randomBytes(32), lifetime = 12 * HOUR, linkLifetime = HOUR } = options;
  const { authentication = [], oidc: clients = [], log = warningLog } = options;
  const sealed = new Sealed(key);
  const memory = options.memory ?? createConsoleMemory(linkLifetime);
  const sessions = new Sessions({ sealed, lifetime, memory });
  const files = new PageFiles();
  const requests = new SessionRequests({ sessions, memory, log });
  const oidc = new OidcSignIns({
    ...{ clients, sealed, path, log },
    begin: (request, authorization) => requests.begin(request, authorization, "issuer"),
  });
  return {
    pages: {
      path,
      authentication,
      credentials: (headers) => sessions.credentials(headers),
      answer: (request) => {
        if (request.path === "/session") return requests.session(request);
        if (request.path === "/codes") return requests.code(request);
        if (request.path === "/issuers") return json(request.res, { issuers: oidc.issuers });
        if (request.path.startsWith("/sign-in/")) return oidc.begin(request);
        if (request.path === "/callback") return oidc.end(request);
        // The page loads its files by relative URLs.
        if (request.path === "") return redirect(request, `.${path}/`);
        return files.answer(request);
      },
    },
    link: (base, token) => {
      const code = newCode();
      void memory.keep(code, `Bearer ${token}`);
      return `${base}${path}/#code=${code}`;
    },
  };
}

/**
 * Creates a memory of one-time codes and ended sessions in this process: the last 10,000 of each.
 *
 * @param linkLifetime time in which a one-time link works, ms; one hour by default
 */
export function createConsoleMemory(linkLifetime: number = HOUR): ProcessMemory {
  return new ProcessMemory(linkLifetime);
}

function redirect({ res, search }: PageRequest, to: string): void {
  res.writeHead(308, { ...SAFE_HEADERS, Location: `${to}${search}` }).end();
}

interface SessionParts extends Required<Pick<ConsoleOptions, "log">> {
  readonly sessions: Sessions;
  readonly memory: ConsoleMemory;
}

/** Requests about sessions: `session` and `codes` below the path of the console. */
class SessionRequests {
  readonly #sessions: Sessions;
  readonly #memory: ConsoleMemory;
  readonly #log: Log;

  constructor({ sessions, memory, log }: SessionParts) {
    this.#sessions = sessions;
    this.#memory = memory;
    this.#log = log;
  }

  /** GET: the user; POST: sign in; DELETE: sign out. @throws ApiError */
  async session(request: PageRequest): Promise<void> {
    const { req } = request;
    if (!isFromPage(req.headers))
      throw ApiError.forbidden({
        resource: { group: "", resource: "" },
        message: `only the page of the console may use its sessions: send the header ${MARK.name}: ${MARK.value}`,
      });
    if (req.method === "GET") return this.#show(request);
    if (req.method === "POST") return this.#signIn(request);
    if (req.method === "DELETE") return done(request, this.#sessions.end(req.headers));
    throw ApiError.methodNotAllowed({ group: "", resource: "session" }, req.method ?? "");
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

  async #show(request: PageRequest): Promise<void> {
    const session = this.#sessions.of(request.req.headers);
    if (session === undefined) throw ApiError.unauthorized();
    const { name, groups } = await request.authenticate(session.authorization);
    json(request.res, { user: { username: name, groups }, expires: new Date(session.expires).toISOString() });
  }

  async #signIn(request: PageRequest): Promise<void> {
    const { token, code } = await signInOf(request);
    const authorization = code === undefined ? `Bearer ${token}` : await this.#memory.take(code);
    if (authorization === undefined)
      throw ApiError.unauthorized("the link has been used or is too old: make a new one");
    done(request, await this.begin(request, authorization, code === undefined ? "token" : "link"));
  }

  /** Begins the session of a token. @returns the cookies to set @throws ApiError 400, 401, 429, 503 */
  async begin(request: PageRequest, authorization: string, by: string): Promise<readonly string[]> {
    const { name } = await request.authenticate(authorization);
    const cookies = this.#sessions.begin(authorization);
    if (cookies === undefined)
      throw ApiError.badRequest("the token is too long for a session: use one of at most 11,000 characters");
    this.#log({ level: "info", message: "signed in to the console", user: name, by });
    return cookies;
  }
}

interface SignIn {
  readonly token?: string;
  readonly code?: string;
}

/** @throws ApiError 400, 413, 415 */
async function signInOf({ req, res }: PageRequest): Promise<SignIn> {
  const { token, code } = parsed(await readBody(req, { res, limit: LARGEST })) as SignIn;
  const given = [token, code].filter((one) => one !== undefined);
  if (given.length !== 1 || typeof given[0] !== "string" || !/^[\x21-\x7e]+$/.test(given[0]))
    throw ApiError.badRequest(
      'invalid sign-in: send {"token": "…"} with a bearer token, or {"code": "…"} with that of a link',
    );
  return { ...(token !== undefined && { token }), ...(code !== undefined && { code }) };
}

function parsed(body: Buffer): object {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    if (typeof value === "object" && value !== null) return value;
  } catch {} // reported below
  throw ApiError.badRequest("invalid sign-in: send a JSON object");
}

function json(res: PageRequest["res"], value: unknown): void {
  res.writeHead(200, { ...SAFE_HEADERS, "Content-Type": "application/json", "Cache-Control": "no-store" });
  res.end(JSON.stringify(value));
}

function done({ res }: PageRequest, cookies: readonly string[]): void {
  res.writeHead(204, { ...SAFE_HEADERS, "Cache-Control": "no-store", "Set-Cookie": [...cookies] }).end();
}
