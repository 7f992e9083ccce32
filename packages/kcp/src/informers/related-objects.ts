import { isApiError, type KindReference, parseApiVersion } from "@virtual-workspaces/apimachinery";
import { type Client, Informer } from "@virtual-workspaces/client";
import { sleep } from "@virtual-workspaces/transport";
import { LogicalCluster } from "../kinds/logical-cluster.ts";
import { Mount } from "../kinds/mount.ts";
import { Workspace } from "../kinds/workspace.ts";
import type { RelatedObject, RelatedObjects, RelatedReference } from "../targets/target.ts";

/** Options of {@link Related}. */
export interface RelatedOptions {
  readonly client: Client;
  /** Called when an object changes that the dependent uses. */
  readonly changed: (dependent: string) => void;
  /** Receives every failure. The informer retries. */
  readonly onError: (error: unknown) => void;
}

interface Shared {
  readonly followed: FollowedObject;
  readonly dependents: Set<string>;
}

/**
 * Cache of single objects that others depend on. Each has one watch of its own, as long as a dependent uses it, so that only named
 * objects are read.
 */
export class Related implements AsyncDisposable {
  readonly #options: RelatedOptions;
  readonly #shared = new Map<string, Shared>();
  /** Keys of the objects of each dependent. */
  readonly #used = new Map<string, ReadonlySet<string>>();
  readonly #ending = new Set<Promise<void>>();
  #closed = false;

  constructor(options: RelatedOptions) {
    this.#options = options;
  }

  /** Number of watched objects. */
  get size(): number {
    return this.#shared.size;
  }

  /** Calls `look` for a dependent, which depends on exactly the objects that it uses in this call. @throws what `look` throws */
  reading<R>(dependent: string, look: (objects: RelatedObjects) => R): R {
    const used = new Set<string>();
    try {
      return look({ get: (reference) => this.#get(reference, { dependent, used }) });
    } finally {
      this.#leave(dependent, used);
    }
  }

  /** Removes a dependent. */
  forget(dependent: string): void {
    this.#leave(dependent, new Set());
  }

  /** Stops all watches. `changed` is not called afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const key of [...this.#shared.keys()]) this.#drop(key);
    await Promise.all(this.#ending);
  }

  #get(reference: RelatedReference, { dependent, used }: { dependent: string; used: Set<string> }): RelatedObject {
    const { cluster, apiVersion, kind, namespace = "", name } = reference;
    const key = JSON.stringify([cluster, apiVersion, kind, namespace, name]);
    used.add(key);
    const shared = this.#shared.get(key) ?? this.#follow(key, reference);
    shared?.dependents.add(dependent);
    return shared?.followed.state ?? { state: "unknown" };
  }

  #follow(key: string, reference: RelatedReference): Shared | undefined {
    if (this.#closed) return undefined;
    const { client, changed, onError } = this.#options;
    const dependents = new Set<string>();
    const tell = (): void => {
      for (const dependent of [...dependents]) changed(dependent);
    };
    const shared = { followed: new FollowedObject({ client, reference, changed: tell, onError }), dependents };
    this.#shared.set(key, shared);
    return shared;
  }

  #leave(dependent: string, used: ReadonlySet<string>): void {
    for (const key of this.#used.get(dependent) ?? []) {
      const dependents = used.has(key) ? undefined : this.#shared.get(key)?.dependents;
      if (dependents?.delete(dependent) === true && dependents.size === 0) this.#drop(key);
    }
    if (used.size === 0) this.#used.delete(dependent);
    else this.#used.set(dependent, used);
  }

  #drop(key: string): void {
    const shared = this.#shared.get(key);
    this.#shared.delete(key);
    if (shared === undefined) return;
    const ending = shared.followed[Symbol.asyncDispose]().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/** Options of {@link FollowedObject}. */
interface FollowedOptions {
  readonly client: Client;
  readonly reference: RelatedReference;
  /** Called when the state or version of the object changes. */
  readonly changed: () => void;
  readonly onError: (error: unknown) => void;
}

const SECRET: KindReference = { group: "", version: "v1", kind: "Secret", plural: "secrets", scope: "Namespaced" };
/** Kinds that need no discovery. */
const KNOWN: readonly KindReference[] = [SECRET, LogicalCluster, Workspace, Mount] as readonly KindReference[];
/** Delay between lookups of a kind that is not served, in ms. */
const AGAIN = 2_000;
/** Duration of a watch of one object, in s. */
const RENEWED = 60;
/** Names that are safe in a field selector and a path. No object has another name. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9])?$/;
/** Status codes for a missing or hidden object. kcp answers 403 for a missing workspace. */
const ABSENT: readonly number[] = [403, 404];

/** Watch of one object by name, of any kind. The kind may appear and disappear. */
class FollowedObject implements AsyncDisposable {
  readonly #options: FollowedOptions;
  readonly #end = new AbortController();
  readonly #running: Promise<void>;
  #informer: Informer | undefined;
  #state: RelatedObject = { state: "unknown" };

  constructor(options: FollowedOptions) {
    this.#options = options;
    const { name, namespace } = options.reference;
    const isOne = NAME.test(name) && (namespace === undefined || NAME.test(namespace));
    if (!isOne) this.#state = { state: "absent" };
    this.#running = isOne ? this.#run().catch((error: unknown) => this.#broken(error)) : Promise.resolve();
  }

  get state(): RelatedObject {
    return this.#state;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#running;
    await this.#informer?.stop();
  }

  async #run(): Promise<void> {
    const kind = await this.#kind();
    if (kind === undefined) return;
    const { client, reference } = this.#options;
    const { cluster, namespace, name } = reference;
    const all = client.cluster(cluster).resource<object>(kind);
    const resource = kind.scope === "Namespaced" && namespace !== undefined ? all.in(namespace) : all;
    const informer = new Informer({ resource, fields: `metadata.name=${name}`, renewEvery: RENEWED });
    const look = (): void => {
      const [object] = informer.store.list();
      this.#set(object === undefined ? { state: "absent" } : { state: "found", object });
    };
    informer.on({
      added: look,
      updated: look,
      deleted: look,
      lifecycle: (event) => {
        if (event.type === "synced" || event.type === "relisted") look();
        if (event.type !== "error") return;
        this.#failed(event.error);
        if (!isAbsent(event.error)) this.#options.onError(event.error);
      },
    });
    this.#informer = informer.start();
  }

  /** Finds the kind and waits while it is not served. Returns `undefined` when disposed. */
  async #kind(): Promise<KindReference | undefined> {
    const { client, reference, onError } = this.#options;
    const { signal } = this.#end;
    const { group = "", version = "" } = parseApiVersion(reference.apiVersion) ?? {};
    const known = KNOWN.find((one) => one.group === group && one.kind === reference.kind && one.version === version);
    if (known !== undefined) return known;
    const discovery = client.cluster(reference.cluster).discovery();
    while (!signal.aborted) {
      try {
        const found = await discovery.find({ group, version, kind: reference.kind }, { signal });
        if (found !== undefined) return found;
        this.#set({ state: "unserved" });
      } catch (error) {
        if (signal.aborted) return undefined;
        this.#failed(error);
        if (!isAbsent(error)) onError(error);
      }
      await sleep(AGAIN, { signal, ref: false });
    }
    return undefined;
  }

  /** Reports an error that makes the object impossible to read. */
  #broken(error: unknown): void {
    this.#options.onError(error);
    this.#set({ state: "unserved" });
  }

  /** Keeps the last state while the server is unavailable. */
  #failed(error: unknown): void {
    if (isAbsent(error)) this.#set({ state: "unserved" });
  }

  #set(state: RelatedObject): void {
    const before = this.#state;
    this.#state = state;
    const isSame = before.state === state.state && versionOf(before) === versionOf(state);
    if (!isSame && !this.#end.signal.aborted) this.#options.changed();
  }
}

function isAbsent(error: unknown): boolean {
  return isApiError(error) && ABSENT.includes(error.code);
}

function versionOf(one: RelatedObject): string | undefined {
  return one.state === "found" ? one.object.metadata.resourceVersion : undefined;
}
