import type { Call } from "./call.ts";
import type { Credential, Credentials } from "./credentials.ts";
import { namesOf, onTheWire, without } from "./headers.ts";

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
