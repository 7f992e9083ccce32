import { ApiError, isWorkspacePath } from "@virtual-workspaces/apimachinery";
import type { Log, PageRequest } from "@virtual-workspaces/framework/server";
import type { Configuration, DiscoveryRequestOptions } from "openid-client";
import { SAFE_HEADERS } from "./page-files.ts";
import type { Sealed } from "./sealed.ts";
import { cookieName, type IssuedToken, pairsOf } from "./sessions.ts";

/** Client of an OpenID Connect issuer that signs users in: authorization code with PKCE. */
export interface OidcClient {
  /** URL of the issuer. The server must accept its ID tokens, with {@link clientId} as audience. */
  readonly issuer: string;
  /** ID of the client at the issuer, where `<console>/callback` is registered as redirect URI. */
  readonly clientId: string;
  /** Secret of the client. @default none, a public client, which PKCE alone protects */
  readonly clientSecret?: string;
  /** Scopes to request. @default openid, profile, email */
  readonly scopes?: readonly string[];
  /** Authorities of the issuer's certificate, PEM. @default those that Node.js trusts */
  readonly ca?: string;
}

/** Purpose of the sealed state of a sign-in. */
const PURPOSE = "login";
/** Time limit of a sign-in at the issuer, s. */
const PATIENCE = 600;
/** Time limit of a request to the issuer, s. */
const TIMEOUT = 10;

/** State of a sign-in under way, sealed in its cookie. */
interface Login {
  readonly issuer: number;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirect: string;
  /** Time of its end, ms since 1970. */
  readonly expires: number;
  /** Path of the workspace from which the user has come: its type may name the issuer. */
  readonly workspace?: string;
  /** Session of the browser at the beginning: the issuer, another site, leads back without its cookie. */
  readonly replaces?: string;
}

/** Result of a sign-in that failed, for the page: `#sign-in=<failure>`. */
type Failure = "expired" | "denied" | "failed" | "rejected";

interface OidcParts {
  readonly clients: readonly OidcClient[];
  readonly sealed: Sealed;
  /** Path of the console. */
  readonly path: string;
  readonly log: Log;
  /** Returns the name of a request's session. */
  readonly sessionOf: (headers: PageRequest["req"]["headers"]) => string | undefined;
  /** Begins the session of a token, and ends the one that it replaces. @returns cookies @throws ApiError */
  readonly begin: (request: PageRequest, token: IssuedToken) => Promise<readonly string[]>;
}

/** Sign-ins by OpenID Connect. */
export class OidcSignIns {
  readonly #parts: OidcParts;
  readonly #configurations = new Map<number, Promise<Configuration>>();
  /** Name of the cookie of a sign-in under way. */
  readonly #cookie: string;

  constructor(parts: OidcParts) {
    this.#parts = parts;
    this.#cookie = `${cookieName(parts.sealed)}-login`;
  }

  /** Issuers for the sign-in page, with paths relative to it. */
  get issuers(): readonly { readonly name: string; readonly path: string }[] {
    return this.#parts.clients.map(({ issuer }, at) => ({ name: new URL(issuer).host, path: `sign-in/${at}` }));
  }

  /** Redirects to the issuer. @throws ApiError 400, 404, 503 */
  async begin({ req, res, path, search }: PageRequest): Promise<void> {
    const issuer = Number(path.slice("/sign-in/".length));
    const client = this.#parts.clients[issuer];
    if (client === undefined || req.method !== "GET") throw ApiError.notFoundPath();
    // Security: a page of another site must not replace the session, not even by that of the same person at the issuer.
    if (/^(cross|same)-site$/.test(String(req.headers["sec-fetch-site"]))) return go(res, "../", []);
    const query = new URLSearchParams(search);
    const redirect = `${this.#pageOf(req.headers.host, query.get("page"))}callback`;
    const workspace = query.get("workspace");
    const oidc = await import("openid-client");
    const configuration = await this.#configuration(issuer, client);
    const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
    const target = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: redirect,
      scope: (client.scopes ?? ["openid", "profile", "email"]).join(" "),
      ...{ state, nonce, code_challenge_method: "S256" },
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    });
    const replaces = this.#parts.sessionOf(req.headers);
    const expires = Date.now() + PATIENCE * 1000;
    const login: Login = {
      ...{ issuer, state, nonce, verifier, redirect, expires },
      ...(workspace !== null && isWorkspacePath(workspace) && { workspace }),
      ...(replaces && { replaces }),
    };
    go(res, target.href, [this.#cookieOf(this.#parts.sealed.seal(JSON.stringify(login), PURPOSE), PATIENCE)]);
  }

  /** Ends a sign-in: the issuer has redirected the browser back. */
  async end(request: PageRequest): Promise<void> {
    const { req, res, search } = request;
    const { cookie = "" } = req.headers;
    const found = pairsOf(cookie).find(([name]) => name === this.#cookie)?.[1];
    const text = found === undefined ? undefined : this.#parts.sealed.open(found, PURPOSE);
    const login = text === undefined ? undefined : (JSON.parse(text) as Login);
    const client = login && this.#parts.clients[login.issuer];
    if (login === undefined || client === undefined || login.expires < Date.now()) return this.#failed(res, "expired");
    let authorization: string;
    try {
      authorization = `Bearer ${await this.#idToken({ ...login, client }, search)}`;
    } catch (error) {
      const { error: code } = error as { readonly error?: string };
      if (code === "access_denied") return this.#failed(res, "denied");
      this.#parts.log({
        level: "warn",
        message: "sign-in to the console failed",
        issuer: client.issuer,
        error: causeOf(error),
      });
      return this.#failed(res, "failed");
    }
    let cookies: readonly string[];
    try {
      cookies = await this.#parts.begin(request, {
        authorization,
        workspace: login.workspace,
        replaces: login.replaces,
      });
    } catch (error) {
      this.#parts.log({
        level: "warn",
        message: "token of the console's issuer rejected",
        issuer: client.issuer,
        error: String(error),
      });
      return this.#failed(res, "rejected");
    }
    go(res, "./", [...cookies, this.#cookieOf("", 0)]);
  }

  #failed(res: PageRequest["res"], why: Failure): void {
    go(res, `./#sign-in=${why}`, [this.#cookieOf("", 0)]);
  }

  /** `Lax`: the issuer's page leads back. */
  #cookieOf(value: string, age: number): string {
    return `${this.#cookie}=${value}; Max-Age=${age}; Path=/; Secure; HttpOnly; SameSite=Lax`;
  }

  async #idToken(
    { client, issuer, state, nonce, verifier, redirect }: Login & { readonly client: OidcClient },
    search: string,
  ): Promise<string> {
    const { authorizationCodeGrant } = await import("openid-client");
    const tokens = await authorizationCodeGrant(await this.#configuration(issuer, client), new URL(redirect + search), {
      ...{ pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
    });
    if (tokens.id_token === undefined) throw new Error("the issuer sent no ID token");
    return tokens.id_token;
  }

  /** Returns the URL of the page, which may be below a path of a proxy. @throws ApiError 400 for another host */
  #pageOf(host: string | undefined, page: string | null): string {
    const { path } = this.#parts;
    if (page === null) return `https://${host}${path}/`;
    const url = URL.canParse(page) ? new URL(page) : undefined;
    // Security: the issuer sends the code to this URL, so it must be the console's. The issuer checks it against its list, too.
    if (url?.host !== host || !url?.pathname.endsWith(`${path}/`) || !/^https?:$/.test(url.protocol))
      throw ApiError.badRequest("invalid page: use the URL of the console, with the host of this request");
    return `${url.origin}${url.pathname}`;
  }

  /** @throws ApiError 503 while the issuer cannot be reached */
  async #configuration(at: number, client: OidcClient): Promise<Configuration> {
    const known = this.#configurations.get(at) ?? configurationOf(client);
    this.#configurations.set(at, known);
    try {
      return await known;
    } catch (error) {
      this.#configurations.delete(at);
      const { log } = this.#parts;
      log({
        level: "warn",
        message: "cannot read the issuer of the console",
        issuer: client.issuer,
        error: causeOf(error),
      });
      throw ApiError.serviceUnavailable("the issuer cannot be reached: try again, or sign in with a token", 5);
    }
  }
}

async function configurationOf({ issuer, clientId, clientSecret, ca }: OidcClient): Promise<Configuration> {
  const { discovery, customFetch, None } = await import("openid-client");
  const { Agent, fetch } = await import("undici");
  const read: typeof globalThis.fetch = async (url, options) => {
    const dispatcher = new Agent(ca === undefined ? {} : { connect: { ca } });
    try {
      return (await fetch(url as string, { ...(options as object), dispatcher })) as unknown as Response;
    } finally {
      void dispatcher.close();
    }
  };
  const authentication = clientSecret === undefined ? None() : undefined;
  const options = { timeout: TIMEOUT, ...(ca !== undefined && { [customFetch]: read }) };
  return discovery(new URL(issuer), clientId, clientSecret, authentication, options as DiscoveryRequestOptions);
}

function causeOf(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown };
  return cause === undefined ? String(error) : `${String(error)}: ${String(cause)}`;
}

/** Redirects. Security: only to the issuer, or to the page. */
function go(res: PageRequest["res"], to: string, cookies: readonly string[]): void {
  res.writeHead(303, { ...SAFE_HEADERS, Location: to, "Cache-Control": "no-store", "Set-Cookie": [...cookies] }).end();
}
