import type { GroupResource, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Awaitable, CacheLease, Encoded } from "@virtual-workspaces/framework/storage";
import { normalizedGroupResource } from "@virtual-workspaces/kcp/apis";
import { CLAIM_LABEL_PREFIX } from "@virtual-workspaces/kcp/names";
import type { StoredObject } from "@virtual-workspaces/store";
import { Workers } from "../../controllers/workers.ts";
import type { ShardContext, ShardController } from "../../state/context.ts";
import { modify, type Writable } from "../../state/modify.ts";
import { type ClaimIndex, withLabels } from "./claim-index.ts";

interface Task {
  readonly space: string;
  readonly key: ObjectKey;
}

/** Key space of bindings, whose own labels are written with their status. */
const BINDINGS = "apis.kcp.io/apibindings";

/**
 * Maintains the claim labels of objects (kcp's `kcp-permissionclaimlabel-resource`). Admission labels what clients
 * write. This controller covers writes of controllers, and writes at the moment a claim is accepted or removed, here or
 * in another process on the same store. The feed delivers all objects; unclaimed ones are not parsed.
 */
export class ClaimLabelController implements ShardController {
  readonly started: Promise<void> = Promise.resolve();
  readonly #context: ShardContext;
  readonly #claims: ClaimIndex;
  readonly #workers: Workers<Task>;
  readonly #following: Disposable;

  constructor(context: ShardContext, claims: ClaimIndex) {
    const { feed, log, name: shard } = context;
    this.#context = context;
    this.#claims = claims;
    this.#workers = new Workers<Task>({
      clock: context.clock,
      id: ({ space, key }) => `${space} ${key.cluster}/${key.namespace}/${key.name}`,
      part: ({ key }) => key.cluster,
      count: 4,
      work: (task) => this.#work(task),
      onError: (error, { space, key }) =>
        log({
          level: "warn",
          message: "cannot update the claim labels of an object",
          shard,
          space,
          key,
          error: String(error),
        }),
    });
    this.#following = feed.on({ set: (object) => this.#set(object) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following[Symbol.dispose]();
    await this.#workers[Symbol.asyncDispose]();
  }

  #set({ space, key, bytes }: StoredObject): void {
    if (!this.#isClaimed(space, key.cluster) && !this.#hasLabels(space, bytes)) return;
    this.#workers.add({ space, key });
  }

  #isClaimed(space: string, cluster: string): boolean {
    const resource = this.#resourceOf(space, cluster);
    if (resource === undefined) return false;
    const { group, resource: plural } = normalizedGroupResource(resource);
    return this.#context.state.apiBindings.store.countBy("claimed", `${cluster} ${plural}.${group}`) > 0;
  }

  /** Labels of objects that existed at startup were removed when their claim ended. */
  #hasLabels(space: string, bytes: Buffer): boolean {
    return this.#context.feed.isSynced && space !== BINDINGS && bytes.includes(CLAIM_LABEL_PREFIX);
  }

  #resourceOf(space: string, cluster: string): GroupResource | undefined {
    const [group = "", resource] = space.split("/");
    if (resource !== undefined) return { group, resource };
    // Shortcut for logical clusters without claims, which are most.
    if (this.#context.state.apiBindings.store.countBy("claiming", cluster) === 0) return undefined;
    const definition = this.#context.kinds.in(cluster).in(space)?.definition;
    return definition && { group: definition.group, resource: definition.plural };
  }

  async #work({ space, key }: Task): Promise<void> {
    const kind = this.#context.kinds.in(key.cluster).in(space);
    if (kind === undefined) return;
    const { group, plural: resource } = kind.definition;
    await modify(kind.objects, key, (object) => {
      const { labels } = object.metadata;
      const corrected = this.#claims.corrected({ resource: { group, resource }, key, labels });
      return corrected === labels ? undefined : withLabels(object, corrected);
    });
  }
}

/** Storage of a kind that claims may cover. */
export interface KeptKind extends Writable<object> {
  cache(): Awaitable<CacheLease>;
}

/**
 * Returns the storage of a resource in a logical cluster: empty if it cannot have any, `undefined` if the shard does
 * not know the resource.
 */
export type KindsOf = (cluster: string, resource: GroupResource) => readonly KeptKind[] | undefined;

/** Objects to relabel. */
interface Relabelling {
  readonly cluster: string;
  readonly resource: GroupResource;
  readonly kinds: readonly KeptKind[];
  /** Object whose label is set elsewhere. */
  readonly except?: ObjectKey | undefined;
  readonly signal: AbortSignal;
}

/**
 * Sets the labels of the currently accepted claims on all objects of a resource in a logical cluster. It skips objects
 * that already have them, and first waits for writes that were admitted under earlier claims. Idempotent.
 *
 * @throws ApiError of the store: some objects are labeled, others not yet
 */
export async function relabel(claims: ClaimIndex, of: Relabelling): Promise<void> {
  const { cluster, resource, kinds, except, signal } = of;
  await claims.written(cluster, resource);
  for (const kind of kinds) {
    using lease = await kind.cache();
    await lease.confirm({ signal });
    for (const { key, labels } of objectsOf(lease, cluster)) {
      signal.throwIfAborted();
      if (key.name === except?.name && key.namespace === except.namespace) continue;
      if (claims.corrected({ resource, key, labels }) === labels) continue;
      await modify(kind, key, (object) => {
        const before = object.metadata.labels;
        const corrected = claims.corrected({ resource, key, labels: before });
        return corrected === before ? undefined : withLabels(object, corrected);
      });
    }
  }
}

/** Returns the objects of a logical cluster in a cache. */
export function* objectsOf({ cache }: CacheLease, cluster: string): Generator<Encoded> {
  const prefix = `${cluster}/`;
  for (const [key, object] of cache.snapshot().objects.entries(prefix)) {
    if (!key.startsWith(prefix)) return;
    yield object;
  }
}
