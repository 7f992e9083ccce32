// The least that can be called an informer: a list, watches from there on, a list again on 410. So that what is tested here
// is a controller over real sockets, and not the informer.
import {
  CLUSTER_ANNOTATION,
  isApiError,
  type KubeObject,
  type ObjectKey,
  type ObjectOf,
} from "@virtual-workspaces/apimachinery";
import { keyText, type ResourceClient, type Source, type SourceHandlers } from "@virtual-workspaces/client";

/** The cluster is what the annotation says. */
function keyOf({ metadata: { name = "", namespace = "", annotations = {} } }: KubeObject): ObjectKey {
  return { cluster: annotations[CLUSTER_ANNOTATION] ?? "", namespace, name };
}

export class ListWatchSource<T extends object> implements Source<ObjectOf<T>>, AsyncDisposable {
  readonly synced: Promise<void>;
  readonly store = {
    get: (key: ObjectKey): ObjectOf<T> | undefined => this.#objects.get(keyText(key)),
    list: (): ObjectOf<T>[] => [...this.#objects.values()],
  };
  readonly #client: ResourceClient<T>;
  readonly #objects = new Map<string, ObjectOf<T>>();
  readonly #handlers = new Set<SourceHandlers<ObjectOf<T>>>();
  readonly #end = new AbortController();
  readonly #over: Promise<void>;

  constructor(client: ResourceClient<T>) {
    this.#client = client;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.synced = promise;
    promise.catch(() => undefined);
    this.#over = this.#follow(resolve).catch(reject);
  }

  on(handlers: SourceHandlers<ObjectOf<T>>): Disposable {
    this.#handlers.add(handlers);
    for (const object of this.#objects.values()) handlers.added?.(object, { key: keyOf(object) });
    return { [Symbol.dispose]: () => void this.#handlers.delete(handlers) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#over;
  }

  async #follow(synced: () => void): Promise<void> {
    const { signal } = this.#end;
    let version: string | undefined;
    while (!signal.aborted) {
      try {
        version ??= await this.#list();
        synced();
        for await (const event of this.#client.watch({ resourceVersion: version, signal })) {
          version = event.object.metadata.resourceVersion ?? version;
          if (event.type !== "BOOKMARK") this.#told(event.object, event.type === "DELETED");
        }
      } catch (error) {
        if (signal.aborted) return;
        if (version === undefined) throw error;
        version = isApiError(error) ? undefined : version;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #list(): Promise<string> {
    const { items, metadata } = await this.#client.list({ signal: this.#end.signal });
    const listed = new Set(items.map((item) => keyText(keyOf(item))));
    for (const [id, object] of [...this.#objects]) if (!listed.has(id)) this.#told(object, true);
    for (const item of items) this.#told(item, false);
    return metadata.resourceVersion ?? "";
  }

  #told(object: ObjectOf<T>, isDeleted: boolean): void {
    const key = keyOf(object);
    const id = keyText(key);
    const before = this.#objects.get(id);
    if (isDeleted) this.#objects.delete(id);
    else this.#objects.set(id, object);
    if (!isDeleted && before?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    for (const handlers of [...this.#handlers])
      if (isDeleted) handlers.deleted?.(object, { key });
      else if (before === undefined) handlers.added?.(object, { key });
      else handlers.updated?.(object, before, { key });
  }
}
