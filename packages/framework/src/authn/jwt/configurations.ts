import { hash } from "node:crypto";
import { type Log, warningLog } from "../../observe/log/log.ts";
import type { User } from "../../request/user.ts";
import { BoundedCache } from "../../util/bounded-cache.ts";
import { Verdicts } from "../bearer-tokens.ts";
import { jwtVerifier, UNKNOWN_ISSUER } from "./jwt.ts";
import type { JwtAuthenticator, JwtSettings } from "./jwt-options.ts";
import { isCompact, readToken, TokenRejection, TokenRejections } from "./token.ts";

/** Of which configurations keys and verdicts are kept at once. */
const MOST = 1_024;
/** How many verdicts of each, so that no issuer drives out those of another. */
const MOST_VERDICTS = 250;
/** How long they are good, ms: as with {@link jwt}. */
const REMEMBERED = 10_000;

type Judged = Verdicts["of"];

/** What {@link JwtConfigurations} are made with. */
export interface JwtConfigurationsOptions extends JwtSettings {
  /** Why somebody may not come in whose token a configuration takes, for the log; nobody else's opinion counts then. @default everybody may */
  readonly refuses?: (user: User) => string | undefined;
}

/**
 * JSON Web Tokens by configurations that come and go while a server runs, and that others than its operator write: one for all
 * of them. Each is checked, and its issuers asked, when the first token comes that names one of these; those of equal content
 * are one. What a configuration has no issuer of it is not asked about, so that an issuer that is away holds up nobody but its
 * own. Of the 1,024 that were used last keys are kept, and 250 verdicts each, for 10 s: there is nothing to close. One
 * that is not as {@link jwt} wants it takes nobody's tokens, and is logged.
 *
 * Whoever writes a configuration has this server send GET requests to any https URL, unless `dial` says where not; no answer
 * is shown to them. And says who its issuers' users are: `refuses` must see to who they may not be.
 */
export class JwtConfigurations {
  readonly #settings: JwtSettings & { readonly log: Log };
  readonly #refuses: JwtConfigurationsOptions["refuses"];
  readonly #refusals: TokenRejections;
  readonly #judged = new BoundedCache<Judged>({ capacity: MOST });
  readonly #keys = new WeakMap<readonly JwtAuthenticator[], string>();

  constructor({ refuses, log = warningLog, ...settings }: JwtConfigurationsOptions = {}) {
    this.#settings = { ...settings, log };
    this.#refuses = refuses;
    this.#refusals = new TokenRejections(log);
  }

  /**
   * Whose token this is, by the first of these that takes it.
   *
   * @param configurations not to be changed: what one of them says is looked at once
   */
  async userOf(token: string, configurations: readonly (readonly JwtAuthenticator[])[]): Promise<User | undefined> {
    const url = isCompact(token) ? this.#issuerIn(token) : undefined;
    if (url === undefined) return undefined;
    const known = configurations.filter((one) => one.some(({ issuer }) => issuer.url === url));
    if (known.length === 0) this.#refusals.tell({ issuer: url, reason: UNKNOWN_ISSUER });
    for (const one of known) {
      const user = await this.#of(one)(token);
      if (user !== undefined) return this.#admitted(user, url);
    }
    return undefined;
  }

  #admitted(user: User, issuer: string): User | undefined {
    const reason = this.#refuses?.(user);
    if (reason === undefined) return user;
    this.#refusals.tell({ issuer, reason });
    return undefined;
  }

  /** Which issuer a token names; `undefined` of one that cannot be read. */
  #issuerIn(token: string): string | undefined {
    try {
      return readToken(token).issuer;
    } catch (error) {
      if (!(error instanceof TokenRejection)) throw error;
      this.#refusals.tell({ reason: error.message });
      return undefined;
    }
  }

  #of(configuration: readonly JwtAuthenticator[]): Judged {
    let key = this.#keys.get(configuration);
    if (key === undefined) {
      key = hash("sha256", JSON.stringify(configuration), "base64");
      this.#keys.set(configuration, key);
    }
    return this.#judged.get(key, () => this.#made(configuration));
  }

  #made(configuration: readonly JwtAuthenticator[]): Judged {
    try {
      return new Verdicts(jwtVerifier(configuration, this.#settings), REMEMBERED, MOST_VERDICTS).of;
    } catch (error) {
      const issuers = configuration.map(({ issuer }) => issuer.url);
      this.#settings.log({ level: "warn", message: "token issuers not usable", issuers, error: String(error) });
      return nobody;
    }
  }
}

function nobody(): undefined {
  return undefined;
}
