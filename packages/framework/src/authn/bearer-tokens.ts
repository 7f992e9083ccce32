import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import type * as Csv from "csv-parse/sync";
import { authenticatedUser, type Identity, type User } from "../request/user.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { whole } from "../util/numbers.ts";
import type { Authenticator } from "./authenticator.ts";
import { bearerToken } from "./headers.ts";

/** Result of verifying a token. */
export interface TokenVerdict {
  readonly user: User;
  /** Expiry of the token, in ms since 1970; the verdict is not cached beyond it. @default never */
  readonly expiresAt?: number;
}

/** Verifies tokens of one kind, for {@link bearerTokens}. */
export interface TokenVerifier {
  /** Name in logs. */
  readonly name: string;
  /**
   * Returns the user of a token. `undefined`: the token is of another kind or no longer valid, and the server tries the next
   * authenticator. A thrown error is logged and counts as no opinion, except an `ApiError` 503 (see `Authenticator`).
   * Concurrent requests with the same token share one call, so it receives no request and must limit its own duration.
   *
   * @param token as the client sent it, UTF-8 decoded, never empty
   */
  verify(token: string): Awaitable<TokenVerdict | undefined>;
  /**
   * How long an accepted token is cached, in ms; 0 disables the cache, `Infinity` caches until the token expires. A rejection
   * is never cached.
   * @default 10000, as in Kubernetes
   */
  readonly remember?: number;
  /**
   * Called with a token that no authenticator recognized, to log the reason when `verify` cannot know that it is one: a token
   * of another kind may belong to a later authenticator. Security: do not log the token.
   */
  unrecognized?(token: string): void;
}

/** Authenticator for bearer tokens (Kubernetes' `authenticator.Token`). TokenReviews use it too. */
export interface TokenAuthenticator extends Authenticator {
  /** Returns the user of a token from any source. @throws whatever the verifier throws */
  authenticateToken(token: string): Awaitable<User | undefined>;
  /** Logs why it has no opinion on a token that no authenticator recognized. @default logs nothing */
  unrecognized?(token: string): void;
}

/**
 * Accepts tokens from `Authorization: Bearer` and, for browsers, which cannot set headers on a WebSocket, from Kubernetes'
 * subprotocol. It caches at most 10,000 verdicts by the SHA-256 of the token; the tokens themselves are not kept.
 *
 * @throws Error when `remember` is not a duration
 */
export function bearerTokens({ name, verify, remember = 10_000, unrecognized }: TokenVerifier): TokenAuthenticator {
  const authenticateToken = whole("remember", remember, 0) > 0 ? new Verdicts(verify, remember).of : userBy(verify);
  return {
    name,
    authenticateToken,
    ...(unrecognized && { unrecognized }),
    authenticate: (request) => {
      const token = bearerToken(request);
      return token === undefined ? undefined : authenticateToken(token);
    },
  };
}

/** Whether an authenticator accepts bearer tokens. */
export function takesTokens(authenticator: Authenticator): authenticator is TokenAuthenticator {
  return "authenticateToken" in authenticator;
}

/** Makes authenticators log why none of them recognized the token of a request. */
export function explainUnrecognized(authenticators: readonly Authenticator[], request: IncomingMessage): void {
  const token = bearerToken(request);
  if (token === undefined) return;
  for (const one of authenticators) if (takesTokens(one)) one.unrecognized?.(token);
}

function userBy(verify: TokenVerifier["verify"]): TokenAuthenticator["authenticateToken"] {
  return (token) => {
    const verdict = verify(token);
    return verdict instanceof Promise ? verdict.then((settled) => settled?.user) : verdict?.user;
  };
}

/** Default limit of cached verdicts; the oldest is evicted first. */
const MOST = 10_000;

interface Remembered {
  readonly user: User;
  readonly until: number;
}

/** Cached verdicts by token hash, and verifications in progress. */
export class Verdicts {
  readonly #verify: TokenVerifier["verify"];
  readonly #remember: number;
  readonly #most: number;
  readonly #known = new Map<string, Remembered>();
  readonly #asked = new Map<string, Promise<User | undefined>>();

  /** @param remember in ms */
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

/** User that a token stands for. */
export type TokenUser = Partial<Identity> & { readonly name: string };

/**
 * Accepts a fixed set of bearer tokens (Kubernetes' static token file). Security: anyone with a token is its user, so give
 * tokens only to programs of your own, over TLS.
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
    if (token === "" || user.name === "") throw new Error("static tokens: empty token or user name: give both a value");
    verdicts.set(token, { user: authenticatedUser(user) });
  }
  return bearerTokens({ name: "static tokens", verify: (token) => verdicts.get(token), remember: 0 });
}

/**
 * Accepts the bearer tokens of a file in the format of kcp's and Kubernetes' `--token-auth-file`. Each line holds the token,
 * the user name, the uid and optionally the groups as one quoted column: `secret,alice,1,"admins,staff"`. The file is read
 * once. Security: anyone who can read the file can act as every user in it.
 *
 * @throws Error when the file cannot be read or a line is malformed; the message names the line and never a token
 */
export function tokenFile(path: string): TokenAuthenticator {
  const verdicts = new Map<string, TokenVerdict>();
  for (const { record, line } of records(path)) {
    const [token = "", name = "", uid = "", groups = ""] = record;
    if (record.length < 3 || token === "" || name === "")
      throw new Error(`${path}, line ${line}: malformed entry: write token,user,uid or token,user,uid,"group1,group2"`);
    if (verdicts.has(token)) throw new Error(`${path}, line ${line}: duplicate token: keep one line for each token`);
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
  const bytes = bytesOf(path);
  try {
    const found = parse(bytes, {
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
    // The parser's own message quotes the file, so it is not used.
    const { lines } = error as { readonly lines?: number };
    if (lines === undefined) throw error;
    throw new Error(
      `${path}, line ${lines}: invalid CSV: put quotes around a whole column, and double the quotes inside`,
    );
  }
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `cannot read the token file ${path}: ${code}: name a readable file with lines of token,user,uid or token,user,uid,"group1,group2"`,
      { cause: error },
    );
  }
}
