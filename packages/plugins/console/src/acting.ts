import type { IncomingHttpHeaders } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Sealed } from "./sealed.ts";

/** Header with which a tab says as which user it acts. */
const HEADER = "x-virtual-workspaces-acting";
/** The same as a subprotocol of WebSockets, for which a browser sends no headers of a page: the text follows the dot. */
const PROTOCOL = "acting.virtual-workspaces.";
const PROTOCOLS = "sec-websocket-protocol";
/** Maximum number of groups, and maximum length of a name. */
const [MOST, LONGEST] = [50, 256];

/** User as whom a tab acts: Kubernetes' impersonation. */
export interface ActingUser {
  readonly username: string;
  readonly groups: readonly string[];
}

/**
 * Tabs that act as another user. Each request of such a tab carries the user, sealed for its session, in a header or a
 * subprotocol, and the console replaces that by `Impersonate-*` headers.
 *
 * Security: it grants nothing. The server authorizes the impersonation in each request, as for every client. Pages of other sites
 * can neither make nor send the text, no URL contains it, and it is invalid in every other session.
 */
export class Acting {
  readonly #sealed: Sealed;

  constructor(sealed: Sealed) {
    this.#sealed = sealed;
  }

  /** Seals a user for a session. @throws ApiError 400 on an invalid user */
  seal(session: string, user: unknown): string {
    return this.#sealed.seal(JSON.stringify(checked(user)), purposeOf(session));
  }

  /** Returns the user as whom a request acts, `undefined` for the session's own. "invalid": the text is of another session. */
  of(headers: IncomingHttpHeaders, session: string): ActingUser | "invalid" | undefined {
    const text = textOf(headers);
    if (text === undefined) return undefined;
    const user = this.#sealed.open(text, purposeOf(session));
    return user === undefined ? "invalid" : (JSON.parse(user) as ActingUser);
  }
}

/** Returns what takes the text out of the headers of a request. */
export function withoutActing(headers: IncomingHttpHeaders): Readonly<Record<string, readonly string[]>> {
  const protocols = headers[PROTOCOLS];
  if (protocols?.includes(PROTOCOL) !== true) return headers[HEADER] === undefined ? {} : { [HEADER]: [] };
  const others = offered(protocols).filter((one) => !one.startsWith(PROTOCOL));
  return { [HEADER]: [], [PROTOCOLS]: others.length === 0 ? [] : [others.join(", ")] };
}

/** Returns the headers of Kubernetes' impersonation. */
export function impersonationOf({ username, groups }: ActingUser): Readonly<Record<string, readonly string[]>> {
  // Node gives and takes headers byte by byte.
  const [name = "", ...others] = [username, ...groups].map((text) => Buffer.from(text).toString("latin1"));
  return { "impersonate-user": [name], "impersonate-group": others };
}

function textOf(headers: IncomingHttpHeaders): string | undefined {
  const header = headers[HEADER];
  if (header !== undefined) return String(header);
  return offered(headers[PROTOCOLS] ?? "")
    .find((one) => one.startsWith(PROTOCOL))
    ?.slice(PROTOCOL.length);
}

function offered(protocols: string): readonly string[] {
  return protocols.split(",").map((one) => one.trim());
}

function purposeOf(session: string): string {
  return `acting ${session}`;
}

function checked(value: unknown): ActingUser {
  const { username, groups = [] } = (value ?? {}) as Partial<ActingUser>;
  const isList = Array.isArray(groups) && groups.length <= MOST;
  if (!isList || ![username, ...groups].every(isName))
    throw ApiError.badRequest(
      `invalid user: send {"username": "…", "groups": ["…"]}, at most ${MOST} groups, and names of 1 to ${LONGEST} characters`,
    );
  return { username: username as string, groups };
}

function isName(value: unknown): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would end the header
  return typeof value === "string" && /\S/.test(value) && value.length <= LONGEST && !/[\x00-\x1f\x7f]/.test(value);
}
