import { hash } from "node:crypto";
import type { User } from "../request/user.ts";
import type { TokenVerdict, TokenVerifier } from "./bearer-tokens.ts";

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
