import { randomBytes } from "node:crypto";
import type { Authenticator } from "@virtual-workspaces/framework";
import type { Panel } from "@virtual-workspaces/framework/panel";
import { type Log, type PageRequest, type Pages, warningLog } from "@virtual-workspaces/framework/server";
import { type OidcClient, OidcSignIns } from "./oidc.ts";
import { json, PageFiles, SAFE_HEADERS } from "./page-files.ts";
import { PanelFiles } from "./panel-files.ts";
import { Sealed } from "./sealed.ts";
import { SessionRequests } from "./session-requests.ts";
import { type ConsoleMemory, newCode, ProcessMemory, Sessions } from "./sessions.ts";

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
   * Memory of one-time codes and ended sessions, which processes behind one address share.
   * @default that of this process, {@link createConsoleMemory}
   */
  readonly memory?: ConsoleMemory;
  /**
   * Authenticators of sign-ins that the server's own do not recognize: of tokens that a front proxy forwards to its upstreams.
   * @default none
   */
  readonly authentication?: readonly Authenticator[];
  /**
   * Panels for kinds and virtual workspaces of other servers, such as the shards behind a front proxy. Those of the server's own virtual
   * workspaces bring their panels.
   *
   * Security: a panel acts with the rights of each user who opens it.
   * @default none
   */
  readonly panels?: readonly Panel[];
  /** Issuers at which users sign in by OpenID Connect. @default none */
  readonly oidc?: readonly OidcClient[];
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
  const { authentication = [], panels = [], oidc: clients = [], log = warningLog } = options;
  const sealed = new Sealed(key);
  const memory = options.memory ?? createConsoleMemory(linkLifetime);
  const sessions = new Sessions({ sealed, lifetime, memory });
  const files = new PageFiles();
  const panelFiles = new PanelFiles();
  const requests = new SessionRequests({ sessions, memory, log, panels: panelFiles });
  const oidc = new OidcSignIns({
    ...{ clients, sealed, path, log },
    sessionOf: (headers) => sessions.of(headers)?.id,
    begin: (request, options) => requests.begin(request, options),
  });
  return {
    pages: {
      path,
      ...{ authentication, panels },
      credentials: (headers) => sessions.credentials(headers),
      answer: (request) => {
        if (request.path === "/session") return requests.session(request);
        if (request.path === "/acting") return requests.acting(request);
        if (request.path === "/panels") return requests.panels(request);
        if (request.path.startsWith("/panels/")) return panelFiles.answer(request);
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
