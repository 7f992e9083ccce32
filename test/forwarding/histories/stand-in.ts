// Another API server as a storage, in as few lines as do: what `forward()` is made for, without what it does besides.
import { ApiError, isApiError, type ObjectKey, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { Client, type ResourceClient } from "@virtual-workspaces/client";
import type { CacheLease, Change, Scope, Storage, ViewSource } from "@virtual-workspaces/framework";
import { WatchHub } from "../../../packages/framework/src/watch/hub.ts";
import { Thing, type ThingContent } from "./kinds.ts";

type Things = Storage<ObjectOf<ThingContent>>;

/** Asks as the caller, with the caller's token, for the logical cluster that the caller reads. */
export class StandIn implements ViewSource<ThingContent>, AsyncDisposable {
  readonly resource = Thing;
  readonly #url: string;
  readonly #clients = new Map<string, Client>();
  readonly #hub = new WatchHub({ onError: () => undefined });
  readonly #served = Thing.serve(this.#storage());

  constructor(url: string) {
    this.#url = url;
  }

  cache(scope: Scope): CacheLease | Promise<CacheLease> {
    return this.#hub.lease(this.#served, scope);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#hub[Symbol.asyncDispose]();
    await Promise.all([...this.#clients.values()].map((client) => client[Symbol.asyncDispose]()));
  }

  #storage(): Things {
    return {
      list: (scope, { signal }) =>
        told(async () => {
          const { items, metadata } = await this.#at(scope).list({ signal });
          return { items, resourceVersion: metadata.resourceVersion ?? "" };
        }),
      changes: (scope, after, { signal }) => this.#changes(this.#at(scope), { after, signal }),
    };
  }

  #at({ identity, cluster }: Scope): ResourceClient<ThingContent> {
    const client =
      this.#clients.get(identity.name) ??
      new Client({
        upstream: {
          url: this.#url,
          credentials: { get: () => ({ headers: ["Authorization", `Bearer ${identity.name}`] }) },
        },
      });
    this.#clients.set(identity.name, client);
    return client.cluster(cluster).resource(Thing);
  }

  async *#changes(
    things: ResourceClient<ThingContent>,
    { after, signal }: { after: string; signal: AbortSignal },
  ): AsyncGenerator<Change<ObjectOf<ThingContent>>> {
    for await (const { type, object } of things.watch({ resourceVersion: after, signal })) {
      const { resourceVersion = "", name = "", namespace = "", annotations } = object.metadata;
      if (type === "BOOKMARK") yield { type: "progress", resourceVersion };
      else if (type === "DELETED") {
        const key: ObjectKey = { cluster: annotations?.["kcp.io/cluster"] ?? "", namespace, name };
        yield { type: "delete", key, resourceVersion };
      } else yield { type: "set", object };
    }
  }
}

/** What a network does is no fault of ours. */
async function told<R>(ask: () => Promise<R>): Promise<R> {
  try {
    return await ask();
  } catch (error) {
    throw isApiError(error)
      ? error
      : ApiError.serviceUnavailable("the other server cannot be reached for now: try again");
  }
}
