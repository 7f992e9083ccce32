import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { PageCredentials } from "@virtual-workspaces/framework/server";
import { Acting, impersonationOf, withoutActing } from "./acting.ts";
import type { Sealed } from "./sealed.ts";

/** Header with which the console's page marks its requests. Other sites cannot send it without the server's permission (CORS). */
export const MARK = { name: "x-requested-with", value: "virtual-workspaces-console" } as const;

/** Beginning of the names of all cookies. The prefix binds them to this host, to HTTPS and to the path `/`: no other host can set them. */
const COOKIE = "__Host-virtual-workspaces";
/** Cookie of a session of any console, with the name of its key. */
const OF_SESSION = new RegExp(`^${COOKIE}-([\\da-f]+)-\\d$`);
/** Maximum number of other consoles on this host whose cookies a sign-in keeps. */
const MOST_OTHERS = 4;
/** Maximum length of one cookie's value. Browsers accept 4,096 with name and attributes. */
const LONGEST = 3_800;
/** Maximum number of cookies of one session. */
const MOST_COOKIES = 4;
/** Maximum number of ended sessions and of codes to remember. */
const MOST_KEPT = 10_000;
/** Longest time of a timer, ms. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** A signed-in user. */
export interface Session {
  readonly id: string;
  /** Value of `Authorization`. */
  readonly authorization: string;
  /** Name of the user when the session began. */
  readonly user: string;
  /** Path of the only workspace that accepts the token; undefined for a token that the server accepts. */
  readonly workspace?: string | undefined;
  /** Time of its end, ms since 1970. */
  readonly expires: number;
}

/** Token of an issuer, for a session. */
export interface IssuedToken {
  /** Value of `Authorization`. */
  readonly authorization: string;
  /** Path of the workspace from which the user has come, if any. */
  readonly workspace: string | undefined;
  /** Session that it replaces. */
  readonly replaces: string | undefined;
}

export interface SessionsOptions {
  readonly sealed: Sealed;
  readonly memory: ConsoleMemory;
  /** Time of a session, ms. */
  readonly lifetime: number;
}

/**
 * Sessions of browsers. A session is its user's token, encrypted in a cookie that no script can read, so that every process
 * with the same key knows it, also after a restart.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #open = new OpenRequests();
  readonly #cookie: string;
  readonly acting: Acting;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#cookie = cookieName(options.sealed);
    this.acting = new Acting(options.sealed);
    options.memory.onEnd((session) => this.#open.end(session));
  }

  /**
   * Begins a session.
   *
   * @param headers those of the request that signs in
   * @returns the cookies to set, or `undefined` for a token that is too long for cookies
   */
  begin(
    { authorization, user, workspace }: Omit<Session, "id" | "expires">,
    headers: IncomingHttpHeaders,
  ): readonly string[] | undefined {
    const { lifetime, sealed } = this.#options;
    const expires = Date.now() + lifetime;
    const id = randomBytes(16).toString("base64url");
    const text = sealed.seal(JSON.stringify({ id, authorization, user, workspace, expires } satisfies Session), COOKIE);
    const parts = Array.from({ length: Math.ceil(text.length / LONGEST) }, (_none, at) =>
      text.slice(at * LONGEST, (at + 1) * LONGEST),
    );
    if (parts.length > MOST_COOKIES) return undefined;
    const age = Math.floor(lifetime / 1000);
    return [
      ...this.#names.map((name, at) => cookieOf(name, parts[at] ?? "", parts[at] ? age : 0)),
      ...this.#tooOld(headers).map((name) => cookieOf(name, "", 0)),
    ];
  }

  get #names(): readonly string[] {
    return Array.from({ length: MOST_COOKIES }, (_none, at) => `${this.#cookie}-${at}`);
  }

  /** Returns the cookies of other consoles on this host but the newest ones: browsers send the oldest first, to every port. */
  #tooOld({ cookie = "" }: IncomingHttpHeaders): readonly string[] {
    const others = Map.groupBy(
      pairsOf(cookie).flatMap(([name]) => (name.startsWith(`${this.#cookie}-`) ? [] : [name])),
      (name) => OF_SESSION.exec(name)?.[1],
    );
    others.delete(undefined);
    return [...others.values()].slice(0, -MOST_OTHERS).flat();
  }

  /** Ends the session of a request, with its open watches and WebSockets. @returns the cookies to set */
  end(headers: IncomingHttpHeaders): readonly string[] {
    const session = this.of(headers);
    if (session !== undefined) this.#options.memory.end(session.id);
    return this.#names.map((name) => cookieOf(name, "", 0));
  }

  /** Returns the session that the cookies of a request carry, if it is valid. */
  of({ cookie }: IncomingHttpHeaders): Session | undefined {
    if (cookie?.includes(this.#cookie) !== true) return undefined;
    const cookies = new Map(pairsOf(cookie));
    const parts = this.#names.map((name) => cookies.get(name) ?? "");
    const text = this.#options.sealed.open(parts.join(""), COOKIE);
    const session = text === undefined ? undefined : (JSON.parse(text) as Session);
    return session === undefined || session.expires < Date.now() || this.#options.memory.hasEnded(session.id)
      ? undefined
      : session;
  }

  /** Returns the credentials of a request for the API: see `Pages.credentials`. */
  credentials(headers: IncomingHttpHeaders): PageCredentials | undefined {
    const { cookie, authorization } = headers;
    if (cookie?.includes(COOKIE) !== true) return undefined;
    const others = pairsOf(cookie).filter(([name]) => !isOurs(name));
    const rest = {
      cookie: others.length === 0 ? undefined : others.map((pair) => pair.join("=")).join("; "),
      headers: withoutActing(headers),
    };
    const session = authorization === undefined && isFromPage(headers) ? this.of(headers) : undefined;
    if (session === undefined) return rest;
    const acting = this.acting.of(headers, session.id);
    // Security: a tab that acts as another user must not act as the signed-in one instead.
    if (acting === "invalid") return rest;
    return {
      ...{ ...rest, authorization: session.authorization },
      ...(acting !== undefined && { headers: { ...rest.headers, ...impersonationOf(acting) } }),
      opened: (end) => this.#open.add(session, end),
    };
  }
}

interface Open {
  readonly ends: Set<() => void>;
  readonly timer: NodeJS.Timeout;
}

/** Open requests of sessions in this process: watches and WebSockets end with their session. */
class OpenRequests {
  readonly #sessions = new Map<string, Open>();

  /** Adds a request of a session. @param end ends the request @returns a function for the end of the request */
  add({ id, expires }: { readonly id: string; readonly expires: number }, end: () => void): () => void {
    const open = this.#sessions.get(id) ?? { ends: new Set(), timer: this.#endAt(id, expires) };
    this.#sessions.set(id, open);
    open.ends.add(end);
    return () => {
      open.ends.delete(end);
      if (open.ends.size > 0) return;
      clearTimeout(open.timer);
      if (this.#sessions.get(id) === open) this.#sessions.delete(id);
    };
  }

  /** Ends all requests of a session. */
  end(id: string): void {
    const open = this.#sessions.get(id);
    if (open === undefined) return;
    clearTimeout(open.timer);
    this.#sessions.delete(id);
    for (const end of open.ends) end();
  }

  #endAt(id: string, expires: number): NodeJS.Timeout {
    return setTimeout(() => this.end(id), Math.min(Math.max(expires - Date.now(), 0), LONGEST_TIMER)).unref();
  }
}

/**
 * Whether the console's own page has caused a request. Security: a browser sends the cookie also with requests of pages on other
 * ports of this host, and, over WebSockets, of any page on this site.
 */
export function isFromPage(headers: IncomingHttpHeaders): boolean {
  const { "sec-fetch-site": site = "same-origin", origin, host } = headers;
  if (site !== "same-origin") return false;
  if (headers.upgrade?.toLowerCase() === "websocket")
    return origin?.replace(/^https?:\/\//i, "").toLowerCase() === host?.toLowerCase();
  return headers[MARK.name] === MARK.value;
}

/** A value, or a promise of it. */
type Awaitable<T> = T | Promise<T>;

/** Memory of a console besides cookies. Processes with one console behind one address need one memory. */
export interface ConsoleMemory {
  /** Keeps the `Authorization` of a one-time code. Security: a client that has the code gets a session. */
  keep(code: string, authorization: string): Awaitable<void>;
  /** Returns the `Authorization` of a code, which can still be taken. */
  find(code: string): Awaitable<string | undefined>;
  /** Takes a code, once. @returns whether it was still there */
  take(code: string): Awaitable<boolean>;
  /** Ends a session early. */
  end(session: string): void;
  /** Whether a session was ended early. */
  hasEnded(session: string): boolean;
  /** Calls `listener` with each session that is ended early, by any process. */
  onEnd(listener: (session: string) => void): void;
}

/** Memory of one process, of the last 10,000 codes and ended sessions. */
export class ProcessMemory implements ConsoleMemory {
  readonly #codes = new Map<string, { readonly authorization: string; readonly expires: number }>();
  readonly #ended = new Map<string, true>();
  readonly #listeners: ((session: string) => void)[] = [];
  readonly #lifetime: number;

  /** @param linkLifetime time limit of a code, ms */
  constructor(linkLifetime: number) {
    this.#lifetime = linkLifetime;
  }

  keep(code: string, authorization: string): void {
    remember(this.#codes, code, { authorization, expires: Date.now() + this.#lifetime });
  }

  find(code: string): string | undefined {
    const found = this.#codes.get(code);
    return found === undefined || found.expires < Date.now() ? undefined : found.authorization;
  }

  take(code: string): boolean {
    return this.#codes.delete(code);
  }

  end(session: string): void {
    remember(this.#ended, session, true);
    for (const listener of this.#listeners) listener(session);
  }

  hasEnded(session: string): boolean {
    return this.#ended.has(session);
  }

  onEnd(listener: (session: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Sessions that were ended early, oldest first. */
  get ended(): readonly string[] {
    return [...this.#ended.keys()];
  }
}

/** Returns a new one-time code. */
export function newCode(): string {
  return randomBytes(32).toString("base64url");
}

function remember<T>(kept: Map<string, T>, name: string, value: T): void {
  const [oldest] = kept.keys();
  if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  kept.set(name, value);
}

/** Returns the beginning of the names of a console's cookies. It differs by the key: browsers send a host's cookies to all its ports. */
export function cookieName({ keyName }: Sealed): string {
  return `${COOKIE}-${keyName}`;
}

function cookieOf(name: string, value: string, age: number): string {
  return `${name}=${value}; Max-Age=${age}; Path=/; Secure; HttpOnly; SameSite=Strict`;
}

/** Returns the cookies of a header. */
export function pairsOf(cookie: string): [name: string, value: string][] {
  return cookie.split(";").map((pair) => {
    const [name = "", value = ""] = pair.trim().split(/=(.*)/s, 2);
    return [name, value];
  });
}

/** Whether a cookie is that of a console, also of another one on this host: a part of a session, or a sign-in under way. */
function isOurs(name: string): boolean {
  return name.startsWith(`${COOKIE}-`);
}
