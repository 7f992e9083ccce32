import { type CacheLease, processMinter, type Scope, type Storage } from "@virtual-workspaces/framework/storage";
import type { APIResourceSchema } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import type { ApiModel, ModelChange } from "../model/api-model.ts";
import { Consumer, changeKey } from "./consumer.ts";
import { FreshBindings } from "./fresh-bindings.ts";
import { ShownSchemas } from "./shown-schemas.ts";

/** Options of {@link BoundSchemas}. */
export interface BoundSchemasOptions {
  readonly model: ApiModel;
  /** Server for the bindings of workspaces. */
  readonly upstream: Upstream;
  /** Receives errors of requests for the bindings of a workspace. */
  readonly onError: (error: unknown) => void;
}

/** Time to keep the schemas of a workspace after its last reader, so that clients can resume, in ms. */
const LINGER = 60_000;

/**
 * Storage of the schemas that workspaces have bound, each workspace as a logical cluster. Memory: the JSON of each schema that was
 * read, once, while the model has it, and 10 KiB for each workspace with a reader in the last minute.
 */
export class BoundSchemas implements Storage<APIResourceSchema> {
  /** Resource versions belong to this process. */
  readonly local = true;
  readonly #model: ApiModel;
  readonly #fresh: FreshBindings;
  readonly #shown = new ShownSchemas();
  readonly #consumers = new Map<string, Consumer>();
  /** Set while anything is cached that depends on changes. */
  #following: Disposable | undefined;

  constructor({ model, ...asking }: BoundSchemasOptions) {
    this.#model = model;
    this.#fresh = new FreshBindings({ model, ...asking });
  }

  /** All readers of a workspace get the same schemas. */
  shareKey(): string {
    return "";
  }

  cache({ cluster }: Scope): CacheLease {
    const consumer = this.#consumers.get(cluster) ?? this.#opened(cluster);
    this.#consumers.set(cluster, consumer);
    this.#following ??= this.#model.listeners.add((change) => this.#heard(change));
    return consumer.lease();
  }

  #heard(change: ModelChange): void {
    if (change.of === "binding") {
      this.#consumers.get(change.cluster)?.renew();
      return;
    }
    const text = changeKey(change);
    for (const consumer of this.#consumers.values()) if (consumer.isMadeFrom(text)) consumer.renew();
  }

  #opened(cluster: string): Consumer {
    return new Consumer({
      cluster,
      model: this.#model,
      minter: processMinter,
      shown: this.#shown,
      linger: LINGER,
      confirm: () => this.#fresh.of(cluster),
      onIdle: () => {
        this.#consumers.delete(cluster);
        if (this.#consumers.size > 0) return;
        this.#following?.[Symbol.dispose]();
        this.#following = undefined;
      },
    });
  }
}
