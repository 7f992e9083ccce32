import { namesOf, onTheWire, without } from "../http/headers.ts";
import type { Call } from "./call.ts";

/** Provides the credential of each request, and renews a rejected one. Reports each rejected credential to its source once. */
export class Authentication {
  readonly #credentials: Credentials | undefined;
  /** The last headers, if they are frozen. */
  #encoded: Encoded | undefined;
  /** Lines of frozen requests with the credential that was sent last. */
  readonly #joined = new WeakMap<readonly string[], Joined>();
  /** Credentials that the source knows as rejected. */
  readonly #refused = new WeakSet<Credential>();

  constructor(credentials: Credentials | undefined) {
    this.#credentials = credentials;
  }

  /** @throws errors of the source, and the reason that ends the call */
  credential(call: Call): Credential | Promise<Credential> {
    if (this.#credentials === undefined) return NOBODY;
    const given = this.#credentials.get();
    return isThenable(given) ? call.until(given).then(checked) : checked(given);
  }

  /** Returns another credential after a rejection, if there is one. @throws as {@link credential} */
  async renewed(refused: Credential, call: Call): Promise<Credential | undefined> {
    const credentials = this.#credentials;
    if (credentials?.refused === undefined) return undefined;
    if (!this.#refused.has(refused)) {
      this.#refused.add(refused);
      credentials.refused(refused);
    }
    const credential = await this.credential(call);
    if (!alike(credential, refused)) return credential;
    // The source still returns it: the next rejection is reported again.
    this.#refused.delete(refused);
    return undefined;
  }

  /**
   * Returns the header lines of a request with the credential's. Security: removes the request's own lines of these names, so
   * that none of them can name another identity. Frozen lines with the same frozen credential result in the same frozen lines.
   */
  headers(own: readonly string[], credential: Credential): readonly string[] {
    if (this.#credentials === undefined) return own;
    const encoded = this.#encodedOf(credential);
    const known = this.#joined.get(own);
    if (known?.by === encoded) return known.lines;
    const { names, lines } = encoded;
    const others = without(own, names);
    const joined = lines.length === 0 ? others : [...others, ...lines];
    if (encoded === this.#encoded && Object.isFrozen(own))
      this.#joined.set(own, { by: encoded, lines: Object.freeze(joined) });
    return joined;
  }

  /** Encodes the headers of a credential once. */
  #encodedOf(credential: Credential): Encoded {
    const { headers = NONE } = credential;
    let encoded = this.#encoded;
    if (encoded?.of !== headers) {
      encoded = { of: headers, names: namesOf(["authorization", "", ...headers]), lines: onTheWire(headers) };
      if (Object.isFrozen(headers)) this.#encoded = encoded;
    }
    return encoded;
  }
}

interface Encoded {
  readonly of: readonly string[];
  /** Names that a request's own lines must not have, in lower case. */
  readonly names: ReadonlySet<string>;
  readonly lines: readonly string[];
}

interface Joined {
  readonly by: Encoded;
  readonly lines: readonly string[];
}

/** Headers of a credential without any. */
const NONE: readonly string[] = Object.freeze([]);
const NOBODY: Credential = Object.freeze({});

/** Whether a value is a promise of any implementation. */
function isThenable(given: Credential | Promise<Credential>): given is Promise<Credential> {
  return typeof (given as { readonly then?: unknown }).then === "function";
}

function checked(credential: Credential): Credential {
  const { cert = "", key = "" } = credential;
  if ((cert === "") !== (key === "")) throw new Error("invalid credential: set both cert and key, or neither");
  return credential;
}

function alike(one: Credential, other: Credential): boolean {
  if (one === other) return true;
  const flat = ({ headers = [], cert = "", key = "" }: Credential): string => JSON.stringify([headers, cert, key]);
  return flat(one) === flat(other);
}

/** Identity towards the upstream. */
export interface Credential {
  /** Flat pairs, name and value in turn: `["Authorization", "Bearer …"]`. They replace a request's headers of the same names. */
  readonly headers?: readonly string[];
  /** Client certificate, PEM. When it changes, new connections show the new one, and old ones close once they are idle. */
  readonly cert?: string;
  /** Private key of the certificate, PEM. */
  readonly key?: string;
}

/** Source of credentials that can change: tokens that expire, certificates that are rotated. */
export interface Credentials {
  /**
   * Returns the present credential. Called for every request, within its deadline, and concurrently: cache expensive results.
   * An error fails the request.
   */
  get(): Credential | Promise<Credential>;
  /**
   * Called when the upstream rejects a credential (401). The next `get` should then return another one, and any request is
   * sent once more with it. Called once for an object, however many requests used it; again, if `get` returns a rejected one
   * and it is rejected once more.
   */
  refused?(credential: Credential): void;
}
