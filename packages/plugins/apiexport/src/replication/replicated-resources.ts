import type { ServedResource } from "@virtual-workspaces/framework";
import type { Upstream } from "@virtual-workspaces/transport";
import type { SchemaKinds } from "../served/kinds.ts";
import type { CachedModel, PublishedObjects, SliceKey } from "./cached-model.ts";
import { CachedObjects } from "./cached-objects.ts";

/** Options of {@link ReplicatedResources}. */
export interface ReplicatedResourcesOptions {
  readonly model: CachedModel;
  /** Server with the logical clusters of all shards. */
  readonly upstream: Upstream;
  readonly kinds: SchemaKinds;
  /** Receives errors of requests, and schemas that cannot be served. */
  readonly onError: (error: unknown) => void;
}

interface Live {
  readonly served: ServedResource;
  readonly objects: CachedObjects;
}

interface Entry {
  /** Epoch of the model that the other fields are from. */
  readonly epoch: number;
  readonly lives: ReadonlyMap<string, Live>;
  readonly list: readonly ServedResource[];
}

const NOTHING: readonly ServedResource[] = Object.freeze([]);

/**
 * Served versions of each requested slice. A version that stays the same keeps its storage, so that watches continue. Memory: a few
 * KiB for each version of a requested slice, until its references are invalid.
 */
export class ReplicatedResources implements AsyncDisposable {
  readonly #options: ReplicatedResourcesOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ReplicatedResourcesOptions) {
    this.#options = options;
  }

  /** Returns the same list until it changes. Empty for a slice that publishes nothing. */
  of(key: SliceKey): readonly ServedResource[] {
    const { model } = this.#options;
    const text = `${key.cluster}/${key.name}`;
    const before = this.#entries.get(text);
    if (before?.epoch === model.epoch) return before.list;
    const published = model.published(key);
    if (before === undefined && published === undefined) return NOTHING;
    const lives = published === undefined ? new Map<string, Live>() : this.#livesOf(published, before?.lives);
    for (const [part, { objects }] of before?.lives ?? [])
      if (!lives.has(part)) objects[Symbol.asyncDispose]().catch(this.#options.onError);
    const list = [...lives.values()].map(({ served }) => served);
    const same = before?.list.length === list.length && list.every((one, at) => one === before.list[at]);
    const now = { epoch: model.epoch, lives, list: same ? before.list : Object.freeze(list) };
    if (published === undefined) this.#entries.delete(text);
    else this.#entries.set(text, now);
    return now.list;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#entries.values()].flatMap(({ lives }) => [...lives.values()]);
    this.#entries.clear();
    await Promise.all(all.map(({ objects }) => objects[Symbol.asyncDispose]()));
  }

  #livesOf(
    { schema, cluster, labels }: PublishedObjects,
    before: ReadonlyMap<string, Live> | undefined,
  ): Map<string, Live> {
    const { kinds, upstream, onError } = this.#options;
    const lives = new Map<string, Live>();
    try {
      for (const kind of kinds.of(schema)) {
        const part = JSON.stringify([kind.hash, cluster, labels.toString()]);
        const made = (): Live => {
          const objects = new CachedObjects({ kind, upstream, cluster, labels, onError });
          return { objects, served: kind.serve(objects, { verbs: ["get", "list", "watch"] }) };
        };
        lives.set(part, before?.get(part) ?? made());
      }
    } catch (error) {
      onError(new Error(`cannot serve schema ${schema.metadata.name}: ${String(error)}`, { cause: error }));
    }
    return lives;
  }
}
