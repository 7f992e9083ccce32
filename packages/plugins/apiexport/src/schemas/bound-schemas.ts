import { type CacheLease, processMinter, type Scope, type Storage } from "@virtual-workspaces/framework/storage";
import type { APIResourceSchema } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import type { ApiModel, ModelChange } from "../model/api-model.ts";
import { Consumer, changeKey } from "./consumer.ts";
import { FreshBindings } from "./fresh-bindings.ts";
import { ShownSchemas } from "./shown-schemas.ts";

/** What {@link BoundSchemas} are made from. */
export interface BoundSchemasOptions {
  readonly model: ApiModel;
  /** Whom workspaces are asked for their bindings. */
  readonly upstream: Upstream;
  /** Told when a workspace cannot be asked for its bindings. */
  readonly onError: (error: unknown) => void;
}

/** How long what a workspace has bound is followed after its last reader, so that clients resume, ms. */
const LINGER = 60_000;

/**
 * The schemas of what workspaces have bound, each read as a cluster of its own. Memory: the JSON of each schema that
 * somebody has read, once, while the model has it, and 10 KiB for each workspace that is being read, or was within the last
 * minute.
 */
export class BoundSchemas implements Storage<APIResourceSchema> {
  /** Versions are this process's. */
  readonly local = true;
  readonly #model: ApiModel;
  readonly #fresh: FreshBindings;
  readonly #shown = new ShownSchemas();
  readonly #consumers = new Map<string, Consumer>();
  /** While anything is kept that must hear of changes. */
  #following: Disposable | undefined;

  constructor({ model, ...asking }: BoundSchemasOptions) {
    this.#model = model;
    this.#fresh = new FreshBindings({ model, ...asking });
  }

  /** Whoever may read what a workspace has bound reads the same. */
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
