import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { StoredObject } from "@virtual-workspaces/store";
import { Workers } from "../controllers/workers.ts";
import { Namespace } from "../kinds/namespace.ts";
import type { ShardContext, ShardController } from "../state/context.ts";
import { read, remove } from "../state/modify.ts";
import { logicalClusterKey } from "../state/shard-state.ts";

interface Task {
  readonly space: string;
  readonly key: ObjectKey;
}

/** Number of deleted logical clusters whose names are remembered. Names are never reused. */
const REMEMBERED = 10_000;

/**
 * Deletes objects that are written into a namespace or logical cluster during or after its deletion. A client, a controller
 * or another process on the same store was admitted earlier. No other controller would find these objects.
 *
 * A write between the last check for remaining content and the deletion itself has the lower version. This controller
 * therefore remembers the objects written into a namespace or logical cluster under deletion, and checks them when it is
 * gone. Memory: the keys of those objects that are not deleted.
 *
 * Cluster-scoped objects are deleted only from logical clusters whose deletion this process has seen.
 */
export class Leftovers implements ShardController {
  readonly started: Promise<void> = Promise.resolve();
  readonly #context: ShardContext;
  readonly #workers: Workers<Task>;
  readonly #following = new DisposableStack();
  readonly #gone = new Set<string>();
  /** Objects written into namespaces and logical clusters under deletion, by {@link placeOf}. */
  readonly #late = new Map<string, Map<string, Task>>();

  constructor(context: ShardContext) {
    const { feed, state, log, name: shard } = context;
    this.#context = context;
    this.#workers = new Workers<Task>({
      clock: context.clock,
      id: ({ space, key }) => storeKey(space, key),
      part: ({ key }) => key.cluster,
      count: 2,
      work: (task) => this.#work(task),
      onError: (error, { space, key }) =>
        log({ level: "warn", message: "leftover not deleted", shard, key: storeKey(space, key), error: String(error) }),
    });
    const expect = (place: string, { metadata }: KubeObject): void => {
      if (metadata.deletionTimestamp !== undefined && !this.#late.has(place)) this.#late.set(place, new Map());
    };
    const inCluster = (cluster: KubeObject, { key }: { readonly key: ObjectKey }): void => expect(key.cluster, cluster);
    const inNamespace = (namespace: KubeObject, { key }: { readonly key: ObjectKey }): void =>
      expect(placeOf(key.cluster, key.name), namespace);
    this.#following.use(
      state.logicalClusters.on(
        {
          added: inCluster,
          updated: (cluster, _, event) => inCluster(cluster, event),
          deleted: (_, { key: { cluster } }) => {
            this.#remember(cluster);
            this.#sweep(cluster);
          },
        },
        { existing: "deleting" },
      ),
    );
    this.#following.use(
      state.namespaces.on(
        {
          added: inNamespace,
          updated: (namespace, _, event) => inNamespace(namespace, event),
          deleted: (_, { key }) => this.#sweep(placeOf(key.cluster, key.name)),
        },
        { existing: "deleting" },
      ),
    );
    this.#following.use(
      feed.on({
        set: (object) => this.#set(object),
        deleted: ({ space, key }) => this.#forget(storeKey(space, key), key),
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following.dispose();
    await this.#workers[Symbol.asyncDispose]();
  }

  #remember(cluster: string): void {
    // A copy: a slice would keep the longer key in memory.
    this.#gone.add(Buffer.from(cluster).toString());
    if (this.#gone.size <= REMEMBERED) return;
    for (const oldest of this.#gone) {
      this.#gone.delete(oldest);
      return;
    }
  }

  #set({ space, key }: StoredObject): void {
    // The server's own objects are in namespaces that have no Namespace object.
    if (key.cluster.startsWith("system:")) return;
    const task = { space, key };
    if (this.#late.size > 0) for (const place of placesOf(key)) this.#late.get(place)?.set(storeKey(space, key), task);
    const { namespaces } = this.#context.state;
    if (this.#gone.has(key.cluster) || (key.namespace !== "" && !namespaces.store.has(namespaceKey(key))))
      this.#workers.add(task);
  }

  #forget(text: string, key: ObjectKey): void {
    if (this.#late.size > 0) for (const place of placesOf(key)) this.#late.get(place)?.delete(text);
  }

  /** Checks the objects of a namespace or logical cluster that is gone. */
  #sweep(place: string): void {
    const late = this.#late.get(place);
    this.#late.delete(place);
    for (const task of late?.values() ?? []) this.#workers.add(task);
  }

  /** Reads current objects, since the caches may lag behind. */
  async #work({ space, key }: Task): Promise<void> {
    const { objects, state, kinds } = this.#context;
    if (this.#gone.has(key.cluster)) {
      const cluster = await read(objects.of(state.logicalClusters.resource), logicalClusterKey(key.cluster));
      if (cluster !== undefined) return;
      // Unconditional, whatever its finalizers: no controller can reach it to remove them, and names are never reused.
      await objects.store.commit({ conditions: [], operations: [{ type: "delete", key: storeKey(space, key) }] });
      return;
    }
    if ((await read(objects.of(Namespace), namespaceKey(key))) !== undefined) return;
    const kind = kinds.in(key.cluster).in(space);
    if (kind !== undefined) await remove(kind.objects, key);
  }
}

/** Key of late writes: a logical cluster, or a namespace in it. */
function placeOf(cluster: string, namespace = ""): string {
  return namespace === "" ? cluster : `${cluster}/${namespace}`;
}

function placesOf({ cluster, namespace }: ObjectKey): readonly string[] {
  return namespace === "" ? [cluster] : [cluster, placeOf(cluster, namespace)];
}

function namespaceKey({ cluster, namespace }: ObjectKey): ObjectKey {
  return { cluster, namespace: "", name: namespace };
}

function storeKey(space: string, { cluster, namespace, name }: ObjectKey): string {
  return `${space}/${cluster}/${namespace}/${name}`;
}
