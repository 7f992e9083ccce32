import type { GroupResource } from "@virtual-workspaces/apimachinery";
import { type CacheLease, decodeObject, type Encoded } from "@virtual-workspaces/framework/storage";
import { keySpaces, removeKeySpace, type Store } from "@virtual-workspaces/store";
import { CUSTOM_KEY_SPACES, definedIn, definedKeySpace } from "../../state/key-spaces.ts";
import { CLEANUP_FINALIZER, type CrdCondition, hasCondition } from "../definition/definition.ts";
import { terminating } from "../definition/naming.ts";
import type { CrdCollection } from "../definition/storage.ts";
import type { CrdEntry } from "../served/entry.ts";
import type { LiveKind } from "../served/live-kind.ts";
import type { ServedKinds } from "../served/served-kinds.ts";
import type { CrdIndex } from "./index-of-crds.ts";
import { release, writeStatus } from "./writes.ts";

/** Options of {@link Cleanup}. */
export interface CleanupOptions {
  readonly crds: CrdCollection;
  readonly store: Store;
  readonly served: ServedKinds;
  readonly index: CrdIndex;
  /** Lease on the cache of definitions. */
  readonly lease: CacheLease;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** Called when a definition needs another pass. */
  readonly again: (entry: CrdEntry) => void;
}

const IN_PROGRESS = {
  status: "True",
  reason: "InstanceDeletionInProgress",
  message: "CustomResource deletion is in progress",
} as const;
const COMPLETED = {
  status: "False",
  reason: "InstanceDeletionCompleted",
  message: "removed all instances",
} as const;
const NEVER = {
  status: "False",
  reason: "NeverEstablished",
  message: "resource was never established",
} as const;

/** Deletes the objects of deleted definitions, then removes the finalizer (Kubernetes' CRDFinalizer). */
export class Cleanup implements Disposable {
  readonly #options: CleanupOptions;
  readonly #leaving = new Map<string, LeavingInstances>();

  constructor(options: CleanupOptions) {
    this.#options = options;
  }

  /** Does what is possible now. @throws errors of the store; retry */
  async run(entry: CrdEntry): Promise<void> {
    const { crds, index, now, signal, store } = this.#options;
    const { cluster, uid } = entry;
    const crd = entry.read();
    const { deletionTimestamp, finalizers = [] } = crd.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes(CLEANUP_FINALIZER)) return;
    const established = hasCondition(crd.status, "Established");
    const told = crd.status?.conditions?.some(({ reason }) => reason === IN_PROGRESS.reason) === true;
    if (established && !told) {
      const written = await writeStatus(crds, crd, { cluster, status: this.#status(crd.status, IN_PROGRESS) });
      // Its event triggers the next pass, as does a concurrent write.
      if (written !== undefined) index.put(written);
      return;
    }
    if (established && (await this.#instancesOf(entry)) > 0) return;
    signal.throwIfAborted();
    await removeKeySpace(store, definedKeySpace(entry.resource, uid), { signal });
    const status = terminating(crd.status ?? {}, established ? COMPLETED : NEVER, now());
    await release(crds, crd, { cluster, status });
    this.#end(uid);
  }

  /** Removes all data of a definition that no longer exists. */
  async purge(resource: GroupResource, uid: string): Promise<void> {
    this.#end(uid);
    const { store, signal } = this.#options;
    await removeKeySpace(store, definedKeySpace(resource, uid), { signal });
  }

  /** Removes data of definitions that were removed while no server ran: one read for each kind with objects. */
  async sweep(): Promise<void> {
    const { store, index, lease, signal } = this.#options;
    const known = new Set([...index.all()].map(({ uid }) => uid));
    for await (const space of keySpaces(store, CUSTOM_KEY_SPACES, { signal })) {
      const uid = definedIn(space);
      if (uid === undefined || known.has(uid)) continue;
      // A definition is older than its objects, so one missing after this confirmation is gone for good.
      await lease.confirm({ signal });
      if (![...index.all()].some((entry) => entry.uid === uid)) await removeKeySpace(store, space, { signal });
    }
  }

  [Symbol.dispose](): void {
    for (const uid of [...this.#leaving.keys()]) this.#end(uid);
  }

  #status(status: Parameters<typeof terminating>[0] | undefined, condition: Pick<CrdCondition, "status" | "reason">) {
    return terminating(status ?? {}, condition, this.#options.now());
  }

  async #instancesOf(entry: CrdEntry): Promise<number> {
    const { served, signal, again } = this.#options;
    const live = served.liveOf(entry);
    if (live === undefined) return 0;
    let leaving = this.#leaving.get(entry.uid);
    if (leaving === undefined) {
      leaving = await LeavingInstances.of(live, () => again(entry));
      this.#leaving.set(entry.uid, leaving);
    }
    return leaving.sweep(signal);
  }

  #end(uid: string): void {
    this.#leaving.get(uid)?.[Symbol.dispose]();
    this.#leaving.delete(uid);
  }
}

/** Number of objects deleted concurrently; the store batches these writes. */
const AT_ONCE = 32;

/**
 * Deletes the objects of a deleted definition and waits for those with finalizers. The objects are in memory meanwhile.
 */
class LeavingInstances implements Disposable {
  readonly #live: LiveKind;
  readonly #lease: CacheLease;
  readonly #listening: Disposable;

  private constructor(live: LiveKind, lease: CacheLease, onChange: () => void) {
    this.#live = live;
    this.#lease = lease;
    const { cache } = lease;
    this.#listening = cache.listen({
      // Covers an object written while the definition was deleted, and the removal of the last one.
      event: ({ previous }) => (previous === undefined || cache.size === 0 ? onChange() : undefined),
      expired: onChange,
    });
  }

  /** @param onChange called when another pass is needed. @throws ApiError 503 when the store cannot be read */
  static async of(live: LiveKind, onChange: () => void): Promise<LeavingInstances> {
    return new LeavingInstances(live, await live.objects.cache(), onChange);
  }

  /** Deletes the objects that are not yet marked. @returns how many are left */
  async sweep(signal: AbortSignal): Promise<number> {
    const { cache } = this.#lease;
    await this.#lease.confirm({ signal });
    const waiting: Encoded[] = [];
    for (const object of cache.snapshot().objects.values()) {
      if (!isMarked(object)) waiting.push(object);
    }
    for (let at = 0; at < waiting.length; at += AT_ONCE) {
      signal.throwIfAborted();
      await Promise.all(waiting.slice(at, at + AT_ONCE).map((object) => this.#delete(object)));
    }
    if (waiting.length > 0) await this.#lease.confirm({ signal });
    return cache.size;
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
    this.#lease[Symbol.dispose]();
  }

  #delete({ key: { cluster, namespace, name } }: Encoded): Promise<boolean> {
    return this.#live.objects.in(cluster, namespace).delete(name);
  }
}

/** Objects that cannot be parsed count as unmarked. */
function isMarked(object: Encoded): boolean {
  try {
    return decodeObject(object).metadata.deletionTimestamp !== undefined;
  } catch {
    return false;
  }
}
