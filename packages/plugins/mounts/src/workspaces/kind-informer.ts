import { isApiError, type KindReference, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Client, Informer } from "@virtual-workspaces/client";
import { keyText } from "@virtual-workspaces/client/queue";
import { type FoundMount, identifyingMetadata, mountObject } from "./mount-object.ts";

/** Who is told of a kind that is followed. */
export interface KindInformerOptions {
  /** Of all logical clusters. */
  readonly client: Client;
  readonly kind: KindReference;
  /** An object may say something else now. */
  readonly changed: (object: ObjectKey) => void;
  /** All that hold the kind are to look again; `isGone` where it may not be served any more. */
  readonly again: (holders: readonly ObjectKey[], isGone: boolean) => void;
  readonly onError: (error: unknown) => void;
  /** Ends requests. */
  readonly signal: AbortSignal;
}

interface Answer {
  readonly version: string;
  readonly until: number;
  readonly found: Promise<FoundMount | undefined>;
}

/** For how long an answer is another's as well, while changes are not told, ms. */
const FRESH = 1000;

/**
 * The mount objects of one group and resource, in all logical clusters of a shard: followed by their metadata, in one watch, and
 * each asked for once after it has changed, however many Workspaces are mounted by it. Memory: some hundred bytes for each object of
 * the resource, and for each that is referred to.
 */
export class KindInformer implements AsyncDisposable {
  readonly #options: KindInformerOptions;
  readonly #informer: Informer<object>;
  readonly #answers = new Map<string, Answer>();
  /** Workspaces, and the objects that they name. */
  readonly #holders = new Map<string, { readonly workspace: ObjectKey; readonly object?: ObjectKey }>();
  /** Whether all that changes is told. */
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
        // From where it was.
        else if (event.type === "connected") this.#inStep = this.#isSynced;
        else if (event.type === "disconnected") this.#outOfStep();
        else if (event.type === "error") this.#failed(event.error);
      },
    });
    this.#informer.start();
  }

  /** How many Workspaces are mounted by objects of this kind. */
  get size(): number {
    return this.#holders.size;
  }

  /** A Workspace is mounted by an object, if it can be by any. */
  hold(workspace: ObjectKey, object?: ObjectKey): void {
    this.#holders.set(keyText(workspace), { workspace, ...(object && { object }) });
  }

  /** It is no more. */
  release(workspace: ObjectKey): void {
    const text = keyText(workspace);
    const held = this.#holders.get(text);
    this.#holders.delete(text);
    if (held?.object !== undefined) this.#answers.delete(keyText(held.object));
  }

  /**
   * What an object says, as it stands; `undefined` where there is no such kind any more.
   *
   * @param kind in which version
   * @throws what the server answers, but for that it is not there
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
      // That an object is not there says which.
      if (error.code === 404) return error.status.details?.name === name ? { kind: "missing" } : undefined;
      if (error.code === 400) return { kind: "invalid", message: error.message };
      throw error;
    }
  }

  /** Changes are told from now on: of what came and went before nothing was. */
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
