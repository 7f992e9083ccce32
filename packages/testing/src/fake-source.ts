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

/** What a {@link FakeSource} is like. */
export interface FakeSourceOptions {
  /** The version of the empty source. @default 1000 */
  readonly version?: number;
  /** Whether it has `head`, a cheaper way to its version than a list. @default true */
  readonly head?: boolean;
  /** Whether it hands out bytes rather than objects. @default false */
  readonly encoded?: boolean;
}

/** How often a {@link FakeSource} was asked for what. */
export interface FakeSourceCounts {
  readonly list: number;
  readonly changes: number;
  readonly head: number;
  readonly get: number;
  /** Streams open now. */
  readonly open: number;
}

/** Which object; without a namespace where the kind has none. */
export type FakeName = Pick<ObjectKey, "name"> & Partial<Pick<ObjectKey, "namespace">>;

/** What an object holds besides its names: as much as the test needs of its content, and labels. */
export type FakeContent<T> = Partial<T> & { readonly labels?: Readonly<Record<string, string>> };

/**
 * A source of objects that does what a test tells it to: change, stay behind, fail, lose its history. Its
 * {@link storage} is an object of functions over a version line of its own, as an upstream server's would be.
 */
export class FakeSource<T extends object = object> {
  readonly storage: Storage<ObjectOf<T>>;
  /** What streams were opened with: for whom, and after which version. */
  readonly asked: { readonly scope: Scope; readonly after: string }[] = [];
  readonly #resource: TypedDefinition<T>;
  readonly #options: FakeSourceOptions;
  readonly #objects = new Map<string, ObjectOf<T>>();
  readonly #counts = { list: 0, changes: 0, head: 0, get: 0, open: 0 };
  #history: { readonly version: number; readonly change: (scope: Scope) => Change<ObjectOf<T>> }[] = [];
  #version: number;
  /** Streams asked to start after an older version are told that it is lost. */
  #floor: number;
  #problem: Error | undefined;
  #round = Promise.withResolvers<void>();
  /** Counts up when open streams are to end. */
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

  /** How often it was asked so far. */
  get counts(): FakeSourceCounts {
    return { ...this.#counts };
  }

  /** The version of the state. */
  get version(): string {
    return String(this.#version);
  }

  /** Creates the object or replaces all of it. @returns the object as it now stands */
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

  /** Deletes the object; streams are told even when there was none. */
  delete({ namespace = "", name }: FakeName): void {
    this.#objects.delete(`${namespace}/${name}`);
    const resourceVersion = this.#next();
    this.#tell(() => ({ type: "delete", key: { cluster: "", namespace, name }, resourceVersion }));
  }

  /** Moves the version on without a change, as writes elsewhere do. @param told whether open streams hear of it */
  progress({ told = true }: { readonly told?: boolean } = {}): void {
    const resourceVersion = this.#next();
    if (told) this.#tell(() => ({ type: "progress", resourceVersion }));
  }

  /** Changes the state without telling anybody, and forgets what led to it: streams are told that they have lost it. */
  forget(change: () => void = () => undefined): void {
    const told = [...this.#history];
    change();
    this.#history = told;
    this.#floor = this.#version;
    this.#wake();
  }

  /** Every question fails with `error`, open streams too, until {@link mend}. */
  break(error: Error): void {
    this.#problem = error;
    this.#wake();
  }

  /** Answers again. */
  mend(): void {
    this.#problem = undefined;
  }

  /** Ends the open streams, as a server does whose time is up. */
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
