import { isApiError, type KindReference, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Client, Informer } from "@virtual-workspaces/client";
import { keyText } from "@virtual-workspaces/client/queue";
import { type FoundMount, identifyingMetadata, mountObject } from "./mount-object.ts";

/** Options of {@link KindInformer}. */
export interface KindInformerOptions {
  /** Client for all logical clusters. */
  readonly client: Client;
  readonly kind: KindReference;
  /** Called when an object may have changed. */
  readonly changed: (object: ObjectKey) => void;
  /** Reconciles all Workspaces that use the kind; `isGone` when it may no longer be served. */
  readonly again: (holders: readonly ObjectKey[], isGone: boolean) => void;
  readonly onError: (error: unknown) => void;
  /** Aborts requests. */
  readonly signal: AbortSignal;
}

interface Answer {
  readonly version: string;
  readonly until: number;
  readonly found: Promise<FoundMount | undefined>;
}

/** Time for which a result is shared while the watch is interrupted, in ms. */
const FRESH = 1000;

/**
 * Informer for the mount objects of one group and resource, in all logical clusters of a shard. One watch covers their metadata,
 * and each changed object is read once, for any number of Workspaces. Memory: some hundred bytes for each object of the resource,
 * and for each mounted one.
 */
export class KindInformer implements AsyncDisposable {
  readonly #options: KindInformerOptions;
  readonly #informer: Informer<object>;
  readonly #answers = new Map<string, Answer>();
  /** Workspaces and their mount objects. */
  readonly #holders = new Map<string, { readonly workspace: ObjectKey; readonly object?: ObjectKey }>();
  /** Whether the watch reports all changes. */
  #inStep = false;
  #isSynced = false;

  constructor(options: KindInformerOptions) {
    const { client, kind, changed } = options;
    this.#options = options;
    this.#informer = new Informer<object>({ resource: client.metadata(kind), transform: identifyingMetadata });
    const told = (_: unknown, { key }: { readonly key: ObjectKey }): void => {
      this.#answers.delete(keyText(key));
      changed(key);
    };
    this.#informer.on({
      added: told,
      updated: (object, _, event) => told(object, event),
      deleted: told,
      lifecycle: (event) => {
        if (event.type === "synced") this.#synced();
        // A resumed watch misses no change.
        else if (event.type === "connected") this.#inStep = this.#isSynced;
        else if (event.type === "disconnected") this.#outOfStep();
        else if (event.type === "error") this.#failed(event.error);
      },
    });
    this.#informer.start();
  }

  /** Number of Workspaces with a mount object of this kind. */
  get size(): number {
    return this.#holders.size;
  }

  /** Adds a Workspace, with its mount object if the reference is valid. */
  hold(workspace: ObjectKey, object?: ObjectKey): void {
    this.#holders.set(keyText(workspace), { workspace, ...(object && { object }) });
  }

  /** Removes a Workspace. */
  release(workspace: ObjectKey): void {
    const text = keyText(workspace);
    const held = this.#holders.get(text);
    this.#holders.delete(text);
    if (held?.object !== undefined) this.#answers.delete(keyText(held.object));
  }

  /**
   * Returns the current state of an object; `undefined` when the kind is no longer served.
   *
   * @param kind with the version to read
   * @throws the server's error, except for a missing object
   */
  get(kind: KindReference, object: ObjectKey): Promise<FoundMount | undefined> {
    const text = keyText(object);
    const known = this.#answers.get(text);
    const now = performance.now();
    if (known?.version === kind.version && now < known.until) return known.found;
    const found = this.#ask(kind, object);
    const until = this.#inStep ? Number.POSITIVE_INFINITY : now + FRESH;
    const answer = { version: kind.version, until, found };
    this.#answers.set(text, answer);
    found.catch(() => {
      if (this.#answers.get(text) === answer) this.#answers.delete(text);
    });
    return found;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#informer.stop();
  }

  async #ask(kind: KindReference, { cluster, namespace, name }: ObjectKey): Promise<FoundMount | undefined> {
    const { client, signal } = this.#options;
    const all = client.cluster(cluster).resource(kind);
    try {
      return mountObject(await (namespace === "" ? all : all.in(namespace)).get(name, { signal }));
    } catch (error) {
      if (!isApiError(error)) throw error;
      // A 404 for a missing object names it; one for a missing kind does not.
      if (error.code === 404) return error.status.details?.name === name ? { kind: "missing" } : undefined;
      if (error.code === 400) return { kind: "invalid", message: error.message };
      throw error;
    }
  }

  /** Discards results from before the watch, which may have missed changes. */
  #synced(): void {
    this.#isSynced = true;
    this.#inStep = true;
    this.#answers.clear();
    this.#again(false);
  }

  #outOfStep(): void {
    this.#inStep = false;
    this.#answers.clear();
  }

  #failed(error: Error): void {
    this.#outOfStep();
    if (isApiError(error) && error.code === 404) this.#again(true);
    else this.#options.onError(error);
  }

  #again(isGone: boolean): void {
    const holders = [...this.#holders.values()].map(({ workspace }) => workspace);
    this.#options.again(holders, isGone);
  }
}
