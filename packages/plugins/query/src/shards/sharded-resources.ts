import {
  type AuthorizeRequest,
  allow,
  type Decision,
  deny,
  type ServedResource,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { ShardedStorage, type ShardedStorageOptions } from "./sharded-storage.ts";

type Lists = ReadonlyMap<string, readonly ServedResource[]>;
type ResourcesRequest = Parameters<Extract<NonNullable<VirtualWorkspace["resources"]>, (...args: never) => unknown>>[0];
type MetadataOf = NonNullable<VirtualWorkspace["metadataOf"]>;

interface Sharded {
  readonly served: ReadonlyMap<string, ServedResource>;
  readonly made: ServedResource;
}

/**
 * The resources of several shards over all logical clusters. A resource stays the same object while each shard has the same one and the
 * same shards run; otherwise watches of it end, and clients list again.
 */
export class ShardedResources {
  readonly #options: Omit<ShardedStorageOptions, "served">;
  #known: ReadonlyMap<string, Sharded> = new Map();
  readonly #metadata = new Map<string, Sharded>();
  /** Shards of {@link #metadata}. */
  #ofShards = "";
  #lists: Lists = new Map();
  #list: readonly ServedResource[] = [];

  constructor(options: Omit<ShardedStorageOptions, "served">) {
    this.#options = options;
  }

  /** Whether there is more than one shard, or one that does not run. */
  get areSeveral(): boolean {
    const { running, missing } = this.#options.shards();
    return running.size + missing.length > 1;
  }

  /** Returns the resources that any shard has. @throws the error of a shard that runs and cannot say what it has */
  async of(request: ResourcesRequest): Promise<readonly ServedResource[]> {
    const lists: Lists = new Map(
      await Promise.all(
        [...this.#options.shards().running].map(async ([name, { resources = [] }]) => {
          const list = typeof resources === "function" ? await resources(request) : resources;
          return [name, list] as const;
        }),
      ),
    );
    if (areEqual(lists, this.#lists)) return this.#list;
    const byName = new Map<string, Map<string, ServedResource>>();
    for (const [shard, list] of lists)
      for (const served of list) {
        if (served.forwardedBy !== undefined || !served.verbs.includes("list")) continue;
        const { group, version, plural } = served.definition;
        const name = `${group}/${version}/${plural}:${served.identity}`;
        const on = byName.get(name) ?? new Map<string, ServedResource>();
        byName.set(name, on.set(shard, served));
      }
    // Security: another shard has rights of its own, so with it no existing state is used.
    const haveSameShards = areEqual(namesOf(lists), namesOf(this.#lists));
    this.#known = new Map(
      [...byName].map(([name, served]) => [
        name,
        this.#sharded(served, haveSameShards ? this.#known.get(name) : undefined),
      ]),
    );
    this.#lists = lists;
    this.#list = [...this.#known.values()].map(({ made }) => made);
    return this.#list;
  }

  /** Returns the metadata of a kind on all shards; `undefined` if no shard has it. */
  async metadata(...[resource, request]: Parameters<MetadataOf>): Promise<ServedResource | undefined> {
    const { running } = this.#options.shards();
    const found = await Promise.all(
      [...running].map(async ([name, view]) => [name, await view.metadataOf?.(resource, request)] as const),
    );
    const served = new Map(found.flatMap(([name, one]) => (one === undefined ? [] : [[name, one] as const])));
    if (served.size === 0) return undefined;
    const shards = [...running.keys()].join();
    if (shards !== this.#ofShards) this.#metadata.clear();
    this.#ofShards = shards;
    const name = JSON.stringify([resource.group, resource.resource]);
    const sharded = this.#sharded(served, this.#metadata.get(name));
    this.#metadata.set(name, sharded);
    return sharded.made;
  }

  /** Allows what each shard that runs allows; without one, nothing. */
  async authorize(question: AuthorizeRequest): Promise<Decision> {
    const { running } = this.#options.shards();
    if (running.size === 0) return deny("no shard is available");
    for (const { authorize } of running.values()) {
      const decision = await authorize(question);
      if (!decision.allowed) return deny(decision.reason);
    }
    return allow();
  }

  #sharded(served: ReadonlyMap<string, ServedResource>, known: Sharded | undefined): Sharded {
    if (known !== undefined && areEqual(known.served, served)) return known;
    const storage = new ShardedStorage({ ...this.#options, served });
    const [first] = served.values();
    return { served, made: Object.freeze({ ...(first as ServedResource), storage }) };
  }
}

const namesOf = (lists: Lists): ReadonlyMap<string, string> => new Map([...lists.keys()].map((name) => [name, name]));

function areEqual<V>(one: ReadonlyMap<string, V>, other: ReadonlyMap<string, V>): boolean {
  return one.size === other.size && [...one].every(([name, value]) => other.get(name) === value);
}
