import { apiVersionOf, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { compareResourceVersions } from "@virtual-workspaces/apimachinery/requests";
import type { ObjectOf, TypedDefinition } from "@virtual-workspaces/framework";
import {
  type Change,
  type ChangesOptions,
  type Encoded,
  encodeObject,
  type ItemList,
  type Scope,
  type Storage,
} from "@virtual-workspaces/framework/storage";

/** Options of a {@link FakeSource}. */
export interface FakeSourceOptions {
  /** Version of the empty source. @default 1000 */
  readonly version?: number;
  /** Whether the storage has `head`, which returns the version at a lower cost than a list. @default true */
  readonly head?: boolean;
  /** Whether the storage returns encoded bytes instead of objects. @default false */
  readonly encoded?: boolean;
}

/** Number of calls to a {@link FakeSource}, by method. */
export interface FakeSourceCounts {
  readonly list: number;
  readonly changes: number;
  readonly head: number;
  readonly get: number;
  /** Number of streams that are open now. */
  readonly open: number;
}

/** Name of an object, without a namespace for cluster-scoped kinds. */
export type FakeName = Pick<ObjectKey, "name"> & Partial<Pick<ObjectKey, "namespace">>;

/** Content of an object besides its names: the fields that the test needs, and labels. */
export type FakeContent<T> = Partial<T> & { readonly labels?: Readonly<Record<string, string>> };

/**
 * Source of objects under the control of a test: it can change, lag behind, fail or lose its history. Its {@link storage} is
 * an object of functions with a sequence of versions of its own, as for an upstream server.
 */
export class FakeSource<T extends object = object> {
  readonly storage: Storage<ObjectOf<T>>;
  /** Scope and start version of each stream that was opened. */
  readonly asked: { readonly scope: Scope; readonly after: string }[] = [];
  readonly #resource: TypedDefinition<T>;
  readonly #options: FakeSourceOptions;
  readonly #objects = new Map<string, ObjectOf<T>>();
  readonly #counts = { list: 0, changes: 0, head: 0, get: 0, open: 0 };
  #history: { readonly version: number; readonly change: (scope: Scope) => Change<ObjectOf<T>> }[] = [];
  #version: number;
  /** Streams that start after an older version get `expired`. */
  #floor: number;
  #problem: Error | undefined;
  #round = Promise.withResolvers<void>();
  /** Increases when open streams must end. */
  #epoch = 0;

  constructor(resource: TypedDefinition<T>, options: FakeSourceOptions = {}) {
    this.#resource = resource;
    this.#options = options;
    this.#version = options.version ?? 1000;
    this.#floor = this.#version;
    const { head = true } = options;
    this.storage = {
      get: (scope, key) => this.#get(scope, key),
      list: (scope) => this.#list(scope),
      changes: (scope, after, { signal }) => this.#changes(scope, { after, signal }),
      ...(head ? { head: () => this.#head() } : {}),
    };
  }

  /** Number of calls so far. */
  get counts(): FakeSourceCounts {
    return { ...this.#counts };
  }

  /** Current version. */
  get version(): string {
    return String(this.#version);
  }

  /** Creates the object or replaces all of it. @returns the stored object */
  set({ namespace = "", name }: FakeName, content: FakeContent<T> = {}): ObjectOf<T> {
    const { labels, ...rest } = content;
    const object = {
      apiVersion: apiVersionOf(this.#resource),
      kind: this.#resource.kind,
      metadata: {
        name,
        ...(namespace === "" ? {} : { namespace }),
        uid: `uid-${name}`,
        resourceVersion: this.#next(),
        creationTimestamp: "2026-01-01T00:00:00Z",
        ...(labels === undefined ? {} : { labels: { ...labels } }),
      },
      ...rest,
    } as unknown as ObjectOf<T>;
    this.#objects.set(`${namespace}/${name}`, object);
    this.#tell((scope) => ({ type: "set", object: this.#given(object, scope) }));
    return object;
  }

  /** Deletes the object. Streams get the change even when the object did not exist. */
  delete({ namespace = "", name }: FakeName): void {
    this.#objects.delete(`${namespace}/${name}`);
    const resourceVersion = this.#next();
    this.#tell(() => ({ type: "delete", key: { cluster: "", namespace, name }, resourceVersion }));
  }

  /** Raises the version without a change, like a write elsewhere. @param told whether open streams receive the new version */
  progress({ told = true }: { readonly told?: boolean } = {}): void {
    const resourceVersion = this.#next();
    if (told) this.#tell(() => ({ type: "progress", resourceVersion }));
  }

  /** Changes the state without an event and forgets the history, so that streams get `expired`. */
  forget(change: () => void = () => undefined): void {
    const told = [...this.#history];
    change();
    this.#history = told;
    this.#floor = this.#version;
    this.#wake();
  }

  /** Makes every call and every open stream fail with `error`, until {@link mend}. */
  break(error: Error): void {
    this.#problem = error;
    this.#wake();
  }

  /** Ends the failures that {@link break} began. */
  mend(): void {
    this.#problem = undefined;
  }

  /** Ends the open streams, like a server at its request timeout. */
  end(): void {
    this.#epoch += 1;
    this.#wake();
  }

  #next(): string {
    this.#version += 1;
    return String(this.#version);
  }

  #tell(change: (scope: Scope) => Change<ObjectOf<T>>): void {
    this.#history.push({ version: this.#version, change });
    this.#wake();
  }

  #wake(): void {
    this.#round.resolve();
    this.#round = Promise.withResolvers();
  }

  #given(object: ObjectOf<T>, { cluster }: Scope): ObjectOf<T> | Encoded {
    return this.#options.encoded === true ? encodeObject(object, cluster, this.#resource.selectableFields) : object;
  }

  #get(scope: Scope, { namespace, name }: ObjectKey): ObjectOf<T> | Encoded | undefined {
    this.#counts.get += 1;
    this.#check();
    const found = this.#objects.get(`${namespace}/${name}`);
    return found === undefined ? undefined : this.#given(found, scope);
  }

  #list(scope: Scope): ItemList<ObjectOf<T>> {
    this.#counts.list += 1;
    this.#check();
    const items = Array.from(this.#objects.values(), (object) => this.#given(object, scope));
    return { items, resourceVersion: this.version };
  }

  #head(): string {
    this.#counts.head += 1;
    this.#check();
    return this.version;
  }

  #check(): void {
    if (this.#problem !== undefined) throw this.#problem;
  }

  async *#changes(
    scope: Scope,
    { after, signal }: ChangesOptions & { readonly after: string },
  ): AsyncGenerator<Change<ObjectOf<T>>> {
    this.asked.push({ scope, after });
    this.#counts.changes += 1;
    this.#counts.open += 1;
    const epoch = this.#epoch;
    const left = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => left.resolve(), { once: true });
    try {
      let at = after;
      while (!signal.aborted && this.#epoch === epoch) {
        this.#check();
        if (compareResourceVersions(at, String(this.#floor)) < 0) {
          yield { type: "expired" };
          return;
        }
        const next = this.#history.find(({ version }) => compareResourceVersions(String(version), at) > 0);
        if (next === undefined) {
          await Promise.race([this.#round.promise, left.promise]);
          continue;
        }
        at = String(next.version);
        yield next.change(scope);
      }
    } finally {
      this.#counts.open -= 1;
    }
  }
}
