import { isApiError } from "@virtual-workspaces/apimachinery";
import type { HubClient } from "./hub-client.ts";

/** The hubs that an agent can ask something: those that it has tunnels to, and the one that it was told of. */
export class ReachedHubs {
  readonly told: HubClient;
  readonly #reached = new Set<HubClient>();

  constructor(told: HubClient) {
    this.told = told;
  }

  /** There is a tunnel to it, or one more. */
  add(hub: HubClient): void {
    this.#reached.add(hub);
  }

  remove(hub: HubClient): void {
    this.#reached.delete(hub);
  }

  /** What the first of them says that can say something. @throws what the last has thrown, or one that has refused; the signal's reason */
  async ask<T>(what: (hub: HubClient) => Promise<T>, signal: AbortSignal): Promise<T> {
    let failed: unknown;
    for (const hub of new Set([...this.#reached, this.told])) {
      try {
        return await what(hub);
      } catch (error) {
        signal.throwIfAborted();
        if (isApiError(error) && error.code < 500) throw error;
        failed = error;
      }
    }
    throw failed;
  }
}
