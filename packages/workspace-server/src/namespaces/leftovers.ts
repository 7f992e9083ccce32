import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { StoredObject } from "@virtual-workspaces/store";
import { Workers } from "../controllers/workers.ts";
import { Namespace } from "../kinds/namespace.ts";
import type { ShardContext, ShardController } from "../state/context.ts";
import { read, remove } from "../state/modify.ts";
import { logicalClusterKey } from "../state/shard-state.ts";

interface Task {
  readonly space: string;
  readonly key: ObjectKey;
  readonly revision: number;
}

/** Names of logical clusters are never used again: of those that went this many are remembered. */
const REMEMBERED = 10_000;

/**
 * Deletes what came too late: objects that were on their way into a namespace or a logical cluster, admitted already, when that
 * was emptied and went, from a client, a controller or another process on the same store. Nobody would look at them any more.
 * What is in no namespace is only taken away from logical clusters that this process has seen going.
 */
export class Leftovers implements ShardController {
  readonly started: Promise<void> = Promise.resolve();
  readonly #context: ShardContext;
  readonly #workers: Workers<Task>;
  readonly #following = new DisposableStack();
  readonly #gone = new Set<string>();

  constructor(context: ShardContext) {
    const { feed, state, log, name: shard } = context;
    this.#context = context;
    this.#workers = new Workers<Task>({
      id: ({ space, key }) => storeKey(space, key),
      part: ({ key }) => key.cluster,
      count: 2,
      work: (task) => this.#work(task),
      onError: (error, { space, key }) =>
        log({ level: "warn", message: "object left over", shard, key: storeKey(space, key), error: String(error) }),
    });
    this.#following.use(state.logicalClusters.on({ deleted: (_, { key: { cluster } }) => this.#remember(cluster) }));
    this.#following.use(feed.on({ set: (object) => this.#set(object) }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following.dispose();
    await this.#workers[Symbol.asyncDispose]();
  }

  #remember(cluster: string): void {
    // In memory of its own: what it is cut out of is twice as long.
    this.#gone.add(Buffer.from(cluster).toString());
    if (this.#gone.size <= REMEMBERED) return;
    for (const oldest of this.#gone) {
      this.#gone.delete(oldest);
      return;
    }
  }

  #set({ space, key, revision }: StoredObject): void {
    // What the server itself keeps is not in namespaces that are objects.
    if (key.cluster.startsWith("system:")) return;
    const { namespaces } = this.#context.state;
    if (this.#gone.has(key.cluster) || (key.namespace !== "" && !namespaces.store.has(namespaceKey(key))))
      this.#workers.add({ space, key, revision });
  }

  /** As it stands: what is followed may be behind. */
  async #work({ space, key, revision }: Task): Promise<void> {
    const { objects, state, kinds } = this.#context;
    if (this.#gone.has(key.cluster)) {
      const cluster = await read(objects.of(state.logicalClusters.resource), logicalClusterKey(key.cluster));
      if (cluster !== undefined) return;
      // Finalizers too: whoever would take them off cannot get there.
      const at = storeKey(space, key);
      const conditions = [{ key: at, modRevision: revision }];
      await objects.store.commit({ conditions, operations: [{ type: "delete", key: at }] });
      return;
    }
    if ((await read(objects.of(Namespace), namespaceKey(key))) !== undefined) return;
    const kind = kinds.in(key.cluster).in(space);
    if (kind !== undefined) await remove(kind.objects, key);
  }
}

function namespaceKey({ cluster, namespace }: ObjectKey): ObjectKey {
  return { cluster, namespace: "", name: namespace };
}

function storeKey(space: string, { cluster, namespace, name }: ObjectKey): string {
  return `${space}/${cluster}/${namespace}/${name}`;
}
