import { Metadata } from "@grpc/grpc-js";
import { Refused } from "./errors.ts";
import type { Member } from "./member.ts";
import * as methods from "./methods.ts";
import type { Settings } from "./options.ts";

/** How long etcd may take to check a password, ms: it makes it slow on purpose. */
const CHECK = 4000;

/** What goes with every call: our token, and that a member without a leader is to say so instead of waiting. */
export class Login {
  readonly #as: Settings["login"];
  #metadata: Promise<Metadata> | undefined;

  constructor(as: Settings["login"]) {
    this.#as = as;
  }

  /** @throws Refused when a token cannot be had now; `ServiceError` when etcd gives us none */
  metadata(member: Member): Promise<Metadata> {
    if (this.#metadata === undefined) {
      const made = this.#authenticate(member);
      this.#metadata = made;
      made.catch(() => this.forget(made));
    }
    return this.#metadata;
  }

  /** Takes a token for used up, so that the next call gets another. */
  forget(used: Promise<Metadata> | undefined = this.#metadata): void {
    if (this.#metadata === used) this.#metadata = undefined;
  }

  async #authenticate(member: Member): Promise<Metadata> {
    const metadata = new Metadata();
    metadata.set("hasleader", "true");
    if (this.#as === undefined) return metadata;
    const bytes = methods.authenticate.encode(this.#as);
    const options = { metadata, deadline: performance.now() + CHECK, signal: undefined };
    try {
      const { token } = await member.call(methods.authenticate, bytes, options);
      metadata.set("token", token);
    } catch (error) {
      const text = String((error as Error).message);
      if (/authentication failed|user name/.test(text)) throw error;
      // etcd without users: whoever can reach it may do everything.
      if (!/authentication is not enabled/.test(text)) throw new Refused(`login: ${text}`);
    }
    return metadata;
  }
}
