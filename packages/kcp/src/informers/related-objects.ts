import { isApiError, type KindReference, parseApiVersion } from "@virtual-workspaces/apimachinery";
import { type Client, Informer } from "@virtual-workspaces/client";
import { sleep } from "@virtual-workspaces/transport";
import { LogicalCluster } from "../kinds/logical-cluster.ts";
import { Mount } from "../kinds/mount.ts";
import { Workspace } from "../kinds/workspace.ts";
import type { RelatedObject, RelatedObjects, RelatedReference } from "../targets/target.ts";

/** Where objects are read, and who is told: {@link Related}. */
export interface RelatedOptions {
  readonly client: Client;
  /** Something has changed that this one hangs on. */
  readonly changed: (dependent: string) => void;
  /** Told of every failure; what failed is tried again. */
  readonly onError: (error: unknown) => void;
}

interface Shared {
  readonly followed: FollowedObject;
  readonly dependents: Set<string>;
}

/**
 * The objects that others hang on, each followed once and for as long as anything asks for it: by a watch of its own, so that no
 * more is read than is named.
 */
export class Related implements AsyncDisposable {
  readonly #options: RelatedOptions;
  readonly #shared = new Map<string, Shared>();
  readonly #ending = new Set<Promise<void>>();
  #closed = false;

  constructor(options: RelatedOptions) {
    this.#options = options;
  }

  /** How many are followed. */
  get size(): number {
    return this.#shared.size;
  }

  /** Has somebody look at objects; what they do not look at any more they no longer hang on. @throws what `look` throws */
  reading<R>(dependent: string, look: (objects: RelatedObjects) => R): R {
    const used = new Set<string>();
    try {
      return look({ get: (reference) => this.#get(reference, { dependent, used }) });
    } finally {
      this.#leave(dependent, used);
    }
  }

  /** Somebody is no more. */
  forget(dependent: string): void {
    this.#leave(dependent, new Set());
  }

  /** Ends; nothing is told any more. */
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
    for (const [key, { dependents }] of this.#shared)
      if (!used.has(key) && dependents.delete(dependent) && dependents.size === 0) this.#drop(key);
  }

  #drop(key: string): void {
    const shared = this.#shared.get(key);
    this.#shared.delete(key);
    if (shared === undefined) return;
    const ending = shared.followed[Symbol.asyncDispose]().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/** What an object is followed by. */
interface FollowedOptions {
  readonly client: Client;
  readonly reference: RelatedReference;
  /** It is another one now. */
  readonly changed: () => void;
  readonly onError: (error: unknown) => void;
}

const SECRET: KindReference = { group: "", version: "v1", kind: "Secret", plural: "secrets", scope: "Namespaced" };
/** Looked up nowhere: everybody knows them. */
const KNOWN: readonly KindReference[] = [SECRET, LogicalCluster, Workspace, Mount] as readonly KindReference[];
/** How often a kind is looked for that nobody serves, ms. */
const AGAIN = 2_000;
/** How long a watch of one object lasts, s. */
const RENEWED = 60;
/** A selector, and a path, can say it, and nothing else with it: all else is no name that an object has. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9])?$/;
/** What a server says of what it does not have, or does not tell of: a workspace that is not there is 403. */
const ABSENT: readonly number[] = [403, 404];

/** One object, by its name, whichever kind it is of: that may come later, and go. */
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

  /** Waits for it where it is not served yet. `undefined`: nobody wants to know any more. */
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

  /** It cannot even be asked for. */
  #broken(error: unknown): void {
    this.#options.onError(error);
    this.#set({ state: "unserved" });
  }

  /** What is known stays known while its server is away. */
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
