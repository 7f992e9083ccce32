import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type * as Csv from "csv-parse/sync";
import { authenticatedUser, type Identity, type User } from "../request/user.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { whole } from "../util/numbers.ts";
import type { Authenticator } from "./authenticator.ts";
import { bearerToken } from "./headers.ts";

/** What a token turned out to be. */
export interface TokenVerdict {
  readonly user: User;
  /** When the token ends, ms since 1970: no verdict is remembered beyond that. @default never */
  readonly expiresAt?: number;
}

/** Somebody who knows tokens of one kind: all that {@link bearerTokens} needs. */
export interface TokenVerifier {
  /** For logs. */
  readonly name: string;
  /**
   * Whose token this is. `undefined`: not one of this verifier's, or no longer good; the next authenticator is asked. A
   * throw is a failure of the verifier, logged and counted as no opinion, but for an `ApiError` 503 (as with an
   * `Authenticator`). Requests with one token share one call, so it is told of no request: bound its time yourself.
   *
   * @param token as it was sent, UTF-8 decoded, never empty
   */
  verify(token: string): Awaitable<TokenVerdict | undefined>;
  /** How long a yes is remembered, ms; 0 is not at all, `Infinity` until it ends. A no never is. @default 10000, as in Kubernetes */
  readonly remember?: number;
}

/** An authenticator by bearer tokens (Kubernetes' `authenticator.Token`): whoever answers a TokenReview asks it too. */
export interface TokenAuthenticator extends Authenticator {
  /** Whose token this is, however it came. @throws what the verifier throws */
  authenticateToken(token: string): Awaitable<User | undefined>;
}

/**
 * Takes tokens from `Authorization: Bearer`, or, for browsers, which cannot set headers of a WebSocket, from the
 * subprotocol that Kubernetes takes them from. At most 10,000 verdicts are remembered, each under its token's SHA-256:
 * the tokens themselves are not kept.
 *
 * @throws Error when `remember` is no time
 */
export function bearerTokens({ name, verify, remember = 10_000 }: TokenVerifier): TokenAuthenticator {
  const authenticateToken = whole("remember", remember, 0) > 0 ? new Verdicts(verify, remember).of : userBy(verify);
  return {
    name,
    authenticateToken,
    authenticate: (request) => {
      const token = bearerToken(request);
      return token === undefined ? undefined : authenticateToken(token);
    },
  };
}

function userBy(verify: TokenVerifier["verify"]): TokenAuthenticator["authenticateToken"] {
  return (token) => {
    const verdict = verify(token);
    return verdict instanceof Promise ? verdict.then((settled) => settled?.user) : verdict?.user;
  };
}

/** The most that are remembered at once, unless somebody says otherwise; the oldest goes first. */
const MOST = 10_000;

interface Remembered {
  readonly user: User;
  readonly until: number;
}

/** What is known of tokens, by their hash, and what is being found out. */
export class Verdicts {
  readonly #verify: TokenVerifier["verify"];
  readonly #remember: number;
  readonly #most: number;
  readonly #known = new Map<string, Remembered>();
  readonly #asked = new Map<string, Promise<User | undefined>>();

  /** @param remember ms */
  constructor(verify: TokenVerifier["verify"], remember: number, most: number = MOST) {
    this.#verify = verify;
    this.#remember = remember;
    this.#most = most;
  }

  readonly of = (token: string): User | undefined | Promise<User | undefined> => {
    const key = hash("sha256", token, "base64");
    const known = this.#known.get(key);
    if (known !== undefined && Date.now() < known.until) return known.user;
    return this.#asked.get(key) ?? this.#ask(key, token);
  };

  #ask(key: string, token: string): User | undefined | Promise<User | undefined> {
    const verdict = this.#verify(token);
    if (!(verdict instanceof Promise)) return this.#keep(key, verdict);
    const asked = verdict.then((settled) => this.#keep(key, settled)).finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    return asked;
  }

  #keep(key: string, verdict: TokenVerdict | undefined): User | undefined {
    this.#known.delete(key);
    if (verdict === undefined) return undefined;
    const until = Math.min(Date.now() + this.#remember, verdict.expiresAt ?? Number.POSITIVE_INFINITY);
    this.#known.set(key, { user: verdict.user, until });
    if (this.#known.size > this.#most) this.#known.delete(this.#known.keys().next().value as string);
    return verdict.user;
  }
}

/** Who a token stands for. */
export type TokenUser = Partial<Identity> & { readonly name: string };

/**
 * Bearer tokens known beforehand (Kubernetes' static token file). Anyone who learns one is its user: give them to
 * programs of your own, over TLS.
 *
 * @param tokens users by token
 * @throws Error on an empty token or user name
 *
 * @example
 * ```ts
 * import { staticTokens } from "@virtual-workspaces/framework";
 *
 * const authentication = [
 *   staticTokens({ [process.env["ROBOT_TOKEN"] ?? "only-for-tests"]: { name: "robot", groups: ["robots"] } }),
 * ];
 * ```
 * @see docs/how-to/authentication.md
 */
export function staticTokens(tokens: Readonly<Record<string, TokenUser>>): TokenAuthenticator {
  const verdicts = new Map<string, TokenVerdict>();
  for (const [token, user] of Object.entries(tokens)) {
    if (token === "" || user.name === "")
      throw new Error("static tokens: neither a token nor a user name may be empty");
    verdicts.set(token, { user: authenticatedUser(user) });
  }
  return bearerTokens({ name: "static tokens", verify: (token) => verdicts.get(token), remember: 0 });
}

/**
 * Bearer tokens of a file in the form that kcp's and Kubernetes' `--token-auth-file` take: on each line the token, the
 * user's name, the uid and, if there are any, the groups as one quoted column: `secret,alice,1,"admins,staff"`. Read once.
 * Anyone who can read the file is everybody in it.
 *
 * @throws Error when the file cannot be read, or a line is none such; the message names the line and never a token
 */
export function tokenFile(path: string): TokenAuthenticator {
  const verdicts = new Map<string, TokenVerdict>();
  for (const { record, line } of records(path)) {
    const [token = "", name = "", uid = "", groups = ""] = record;
    if (record.length < 3 || token === "" || name === "")
      throw new Error(`${path}, line ${line}: write token,user,uid or token,user,uid,"group1,group2"`);
    if (verdicts.has(token)) throw new Error(`${path}, line ${line}: this token stands in the file before`);
    const user = authenticatedUser({ name, uid, groups: groups.split(",").filter((group) => group !== "") });
    verdicts.set(token, { user });
  }
  return bearerTokens({ name: "token file", verify: (token) => verdicts.get(token), remember: 0 });
}

interface Line {
  readonly record: readonly string[];
  readonly line: number;
}

function records(path: string): readonly Line[] {
  const { parse } = createRequire(import.meta.url)("csv-parse/sync") as typeof Csv;
  try {
    const found = parse(readFileSync(path), {
      bom: true,
      record_delimiter: ["\r\n", "\n"],
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
    });
    return (found as unknown as readonly { record: string[]; info: { lines: number } }[]).map(({ record, info }) => ({
      record,
      line: info.lines,
    }));
  } catch (error) {
    // What the parser says quotes the file.
    const { lines } = error as { readonly lines?: number };
    if (lines === undefined) throw error;
    throw new Error(
      `${path}, line ${lines}: this is no CSV: quotes stand around a whole column, and are doubled inside`,
    );
  }
}
