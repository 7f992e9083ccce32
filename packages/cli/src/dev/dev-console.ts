import { createHmac } from "node:crypto";
import { createConsole, createConsoleMemory } from "@virtual-workspaces/console";
import type { CertifiedSubject } from "@virtual-workspaces/framework/tls";
import { keptKey } from "../server/console.ts";
import { answerFrom, type MemoryRequest } from "../server/console-memory.ts";
import type { ConsoleSite } from "./dev-messages.ts";

/**
 * State of the console that all workers of `dev` share: the key of its sessions, one-time codes, and the tokens of its users. It is in
 * the supervisor, so sessions and links outlive a reload.
 */
export class DevConsole {
  /** Settings for the workers. */
  readonly site: ConsoleSite;
  readonly #memory = createConsoleMemory();

  /** @param dir state folder, which keeps the key, so that sessions outlive a restart @throws Failure on an invalid key file */
  constructor(dir: string, users: readonly CertifiedSubject[]) {
    const key = keptKey(dir);
    this.site = {
      key: key.toString("base64"),
      users: Object.fromEntries(users.map((user) => [tokenOf(user, key), user])),
    };
  }

  /** Returns the token of each user, by name. */
  get tokens(): ReadonlyMap<string, string> {
    return new Map(Object.entries(this.site.users).map(([token, { name }]) => [name, token]));
  }

  /** Sessions that were ended early. */
  get ended(): readonly string[] {
    return this.#memory.ended;
  }

  /** Returns a link that signs a browser in as this user, once, within an hour. Security: the first browser that opens it acts as the user. */
  link(url: string, user: string): string {
    return createConsole({ memory: this.#memory }).link(url, this.tokens.get(user) ?? "");
  }

  answer(request: MemoryRequest): Promise<unknown> {
    return answerFrom(this.#memory, request);
  }

  end(session: string): void {
    this.#memory.end(session);
  }
}

/** Security: the token is derived from the secret key, so no further file has to be kept secret, and no other user can compute it. */
function tokenOf({ name }: CertifiedSubject, key: Buffer): string {
  return createHmac("sha256", key).update(`token of the user ${name}`).digest("base64url");
}
