import { namesOf, onTheWire, without } from "../http/headers.ts";
import type { Call } from "./call.ts";

/** Who we are, for each request; and that a credential which was not taken is renewed, told once for each. */
export class Authentication {
  readonly #credentials: Credentials | undefined;
  /** Those that the source was told of. */
  readonly #refused = new WeakSet<Credential>();

  constructor(credentials: Credentials | undefined) {
    this.#credentials = credentials;
  }

  /** @throws what the source of credentials throws, and what the call is ended with */
  credential(call: Call): Credential | Promise<Credential> {
    if (this.#credentials === undefined) return NOBODY;
    const given = this.#credentials.get();
    return isThenable(given) ? call.until(given).then(checked) : checked(given);
  }

  /** Another one, if there is any, for one that was not taken. @throws as {@link credential} */
  async renewed(refused: Credential, call: Call): Promise<Credential | undefined> {
    const credentials = this.#credentials;
    if (credentials?.refused === undefined) return undefined;
    if (!this.#refused.has(refused)) {
      this.#refused.add(refused);
      credentials.refused(refused);
    }
    const credential = await this.credential(call);
    if (!alike(credential, refused)) return credential;
    // It is offered on: whoever is refused with it next says so again.
    this.#refused.delete(refused);
    return undefined;
  }

  /** The lines of a request as this one. Its own, as they are sent, must not speak for somebody else beside us. */
  headers(own: readonly string[], { headers = [] }: Credential): readonly string[] {
    if (this.#credentials === undefined) return own;
    return [...without(own, namesOf(["authorization", "", ...headers])), ...onTheWire(headers)];
  }
}

const NOBODY: Credential = Object.freeze({});

/** A promise of any make. */
function isThenable(given: Credential | Promise<Credential>): given is Promise<Credential> {
  return typeof (given as { readonly then?: unknown }).then === "function";
}

function checked(credential: Credential): Credential {
  const { cert = "", key = "" } = credential;
  if ((cert === "") !== (key === ""))
    throw new Error("credential: a client certificate needs its key, and a key its certificate");
  return credential;
}

function alike(one: Credential, other: Credential): boolean {
  if (one === other) return true;
  const flat = ({ headers = [], cert = "", key = "" }: Credential): string => JSON.stringify([headers, cert, key]);
  return flat(one) === flat(other);
}

/** Who we are to the other server. */
export interface Credential {
  /** Flat pairs, name and value in turn: `["Authorization", "Bearer …"]`. What a request says of the same names is left out. */
  readonly headers?: readonly string[];
  /** A client certificate, PEM. When it changes, new connections show the new one, and the old ones end when they are idle. */
  readonly cert?: string;
  /** Its private key, PEM. */
  readonly key?: string;
}

/** Where credentials come from that can change: tokens that end, certificates that are rotated. */
export interface Credentials {
  /**
   * Asked for every request, within its deadline, and by many at once: remember what costs. A throw fails the request with
   * what is thrown.
   */
  get(): Credential | Promise<Credential>;
  /**
   * Told that the other server did not take a credential (401): the next `get` must give another one, if there is any, and
   * the request is then sent once more, whatever it is. Told once, however many requests had the same object; again, when
   * `get` gives what was refused once more, and it is refused once more.
   */
  refused?(credential: Credential): void;
}
