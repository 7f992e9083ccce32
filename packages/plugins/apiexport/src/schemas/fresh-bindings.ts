import { setImmediate as turn } from "node:timers/promises";
import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { APIBinding } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import type { ApiModel } from "../model/api-model.ts";

/** Who is asked, and who must know it. */
export interface FreshBindingsOptions {
  readonly model: Pick<ApiModel, "knows" | "listeners">;
  readonly upstream: Upstream;
  readonly onError: (error: unknown) => void;
}

/** How long the model may take to hear of what a workspace says, ms. */
const PATIENCE = 3_000;
/** How long nothing may be heard before a workspace is asked again, ms. */
const SILENCE = 200;

/**
 * Has the model be no staler than a workspace is about its own bindings: who has bound something, and then looks, finds it.
 * What other workspaces export is as new as the cache has told, as in kcp.
 */
export class FreshBindings {
  readonly #options: FreshBindingsOptions;
  readonly #client: Client;
  readonly #asking = new Map<string, Promise<void>>();

  constructor(options: FreshBindingsOptions) {
    this.#options = options;
    this.#client = new Client({ upstream: options.upstream, cluster: "*" });
  }

  /** Resolves when the model has what the workspace had when this was called. @throws ApiError 503 */
  of(cluster: string): Promise<void> {
    const asking = this.#asking.get(cluster) ?? this.#ask(cluster);
    this.#asking.set(cluster, asking);
    return asking;
  }

  /** Those who come before the question is put share it. */
  async #ask(cluster: string): Promise<void> {
    await turn();
    this.#asking.delete(cluster);
    const signal = AbortSignal.timeout(PATIENCE);
    try {
      while (!this.#options.model.knows(cluster, await this.#bindings(cluster, signal))) {
        signal.throwIfAborted();
        await this.#heard(cluster);
      }
    } catch (error) {
      this.#options.onError(error);
      throw ApiError.serviceUnavailable("what this workspace has bound cannot be found out for now: try again", 1);
    }
  }

  /** None of a workspace that is gone. */
  async #bindings(cluster: string, signal: AbortSignal): Promise<readonly APIBinding[]> {
    try {
      const { items } = await this.#client.cluster(cluster).resource(APIBinding).list({ signal });
      return items;
    } catch (error) {
      if (isApiError(error) && (error.code === 404 || error.code === 403)) return [];
      throw error;
    }
  }

  async #heard(cluster: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = setTimeout(resolve, SILENCE);
    using _listening = this.#options.model.listeners.add((change) => {
      if (change.of === "binding" && change.cluster === cluster) resolve();
    });
    await promise;
    clearTimeout(late);
  }
}
