import { hash } from "node:crypto";
import { type Log, warningLog } from "../../observe/log/log.ts";
import type { User } from "../../request/user.ts";
import { BoundedCache } from "../../util/bounded-cache.ts";
import { Verdicts } from "../bearer-tokens.ts";
import { jwtVerifier, UNKNOWN_ISSUER } from "./jwt.ts";
import type { JwtAuthenticator, JwtSettings } from "./jwt-options.ts";
import { isCompact, readToken, TokenRejection, TokenRejections } from "./token.ts";

/** Limit of configurations whose keys and verdicts are cached. */
const MOST = 1_024;
/** Limit of cached verdicts for each configuration, so that no issuer evicts those of another. */
const MOST_VERDICTS = 250;
/** How long a verdict is cached, in ms, as with {@link jwt}. */
const REMEMBERED = 10_000;

type Judged = Verdicts["of"];

/** Options of {@link JwtConfigurations}. */
export interface JwtConfigurationsOptions extends JwtSettings {
  /**
   * Returns the reason, for the log, why a user of an accepted token is rejected. No other configuration is tried then.
   * @default accepts all users
   */
  readonly refuses?: (user: User) => string | undefined;
}

/**
 * Authenticates JSON Web Tokens by configurations that change at run time and that tenants write; one instance serves all. A
 * configuration is checked, and its issuers contacted, with the first token that names one of them. Configurations with equal
 * content share one entry. A configuration without the token's issuer is skipped, so that an unreachable issuer delays only
 * its own tokens. The 1,024 most recently used configurations keep keys, and 250 verdicts each for 10 s; there is nothing to
 * close. One that {@link jwt} would reject accepts no tokens and is logged.
 *
 * Security: the author of a configuration makes this server send GET requests to any https URL, unless `dial` restricts it;
 * the author does not see the responses. The author also decides who the users of the issuers are: `refuses` must reject
 * identities that they may not have.
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
   * Returns the user of a token from the first configuration that accepts it.
   *
   * @param configurations must not change: each is read once
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

  /** Returns the issuer that a token names; `undefined` when the token cannot be read. */
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
      return new Verdicts(jwtVerifier(configuration, this.#settings).verify, REMEMBERED, MOST_VERDICTS).of;
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
