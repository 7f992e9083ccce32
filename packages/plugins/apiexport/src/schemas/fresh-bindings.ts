import { setImmediate as turn } from "node:timers/promises";
import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { APIBinding } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import type { ApiModel } from "../model/api-model.ts";

/** Options of {@link FreshBindings}. */
export interface FreshBindingsOptions {
  readonly model: Pick<ApiModel, "knows" | "listeners">;
  readonly upstream: Upstream;
  readonly onError: (error: unknown) => void;
}

/** Time limit for the model to receive the bindings of a workspace, in ms. */
const PATIENCE = 3_000;
/** Time without a change before the workspace is read again, in ms. */
const SILENCE = 200;

/**
 * Waits until the model is as new as a workspace's own bindings, so that a user who binds an export finds its schemas. As in kcp,
 * exports of other workspaces are only as new as the cache.
 */
export class FreshBindings {
  readonly #options: FreshBindingsOptions;
  readonly #client: Client;
  readonly #asking = new Map<string, Promise<void>>();

  constructor(options: FreshBindingsOptions) {
    this.#options = options;
    this.#client = new Client({ upstream: options.upstream, cluster: "*" });
  }

  /** Resolves when the model has the bindings that the workspace had at the call. @throws ApiError 503 */
  of(cluster: string): Promise<void> {
    const asking = this.#asking.get(cluster) ?? this.#ask(cluster);
    this.#asking.set(cluster, asking);
    return asking;
  }

  /** Callers that arrive before the request is sent share it. */
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
      throw ApiError.serviceUnavailable("cannot read the bindings of this workspace for now: try again", 1);
    }
  }

  /** Returns no bindings for a deleted workspace. */
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
