import {
  ApiError,
  type KubeObject,
  type ObjectKey,
  type ObjectOf,
  type StoredObject,
} from "@virtual-workspaces/apimachinery";
import { cloneJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { groupResourceOf } from "../definition.ts";
import type { Collection } from "../resource/collection/collection.ts";
import { MARKS, tooLarge } from "../resource/collection/registry.ts";
import type { DeleteOptions, RequestOptions, Scope, WriteOptions } from "../storage.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { MAX_BODY } from "../util/limits.ts";
import type { WritableSource } from "../view/view-options.ts";
import { decodeObject, type Encoded, keyIn } from "../watch/cache/encoded.ts";
import { inCluster, withoutOwn } from "../write/own-annotations.ts";
import { modified } from "../write/update.ts";
import { Polled } from "./polled.ts";
import type { WritablePolledOptions } from "./polled-options.ts";
import { SourceScanner } from "./source-scanner.ts";

/** State of an object at the beginning of a turn. */
interface Found {
  /** Object as it is served. */
  readonly current: Encoded | undefined;
  /** Whether the source has it. An object that finalizers hold may be gone there. */
  readonly isThere: boolean;
}

/** A source outside that clients can write. Writes and reads take turns. Made by {@link polled}. */
export class WritablePolled<T extends object> extends Polled<T> implements WritableSource<T> {
  readonly #options: WritablePolledOptions<T>;
  readonly #collection: Collection<T>;
  readonly #scanner: SourceScanner<T>;

  /** @internal Use `polled()`. */
  constructor(options: WritablePolledOptions<T>) {
    const scanner = new SourceScanner(options);
    super(options, scanner);
    this.#options = options;
    this.#collection = options.collection;
    this.#scanner = scanner;
  }

  /** Reads the object at the source, for a write of a client. @throws ApiError 503 when the source cannot be read */
  getCurrent(_scope: Scope, key: ObjectKey, options: RequestOptions): Promise<Encoded | undefined> {
    return this.#turn(key, options, async ({ current }) => current);
  }

  /** @throws ApiError 409 when it exists, 403 in another logical cluster, 413 above 3 MiB, 503 when the source cannot be read */
  async create(scope: Scope, object: ObjectOf<T>, options: WriteOptions): Promise<Encoded> {
    const key = keyIn(scope, object.metadata);
    if (!this.#holds(key)) {
      const message = `the objects are in the logical cluster ${this.#options.cluster}: create it there`;
      throw ApiError.forbidden({ resource: groupResourceOf(this.resource), name: key.name, message });
    }
    return this.#turn(key, options, async ({ current }) => {
      if (current !== undefined) throw ApiError.alreadyExists(groupResourceOf(this.resource), key.name);
      return this.#write(key, object, { options, current });
    });
  }

  /** @throws ApiError 404, 409 when it has changed at the source, 413 above 3 MiB, 503 when the source cannot be read */
  update(scope: Scope, object: ObjectOf<T>, options: WriteOptions): Promise<Encoded> {
    const key = keyIn(scope, object.metadata);
    return this.#turn(key, options, async (found) => {
      const current = this.#checked(key, found.current, object.metadata.resourceVersion);
      // The source must not get back what it has removed: only finalizers hold the object.
      if (!found.isThere) return this.#collection.update(scope, object);
      return this.#write(key, object, { options, current });
    });
  }

  /** @throws ApiError 404, 409 when it has changed at the source, 503 when the source cannot be read */
  delete(scope: Scope, key: ObjectKey, options: DeleteOptions): Promise<Encoded> {
    return this.#turn(key, options, async ({ current, isThere }) => {
      const before = this.#checked(key, current, options.preconditions?.resourceVersion);
      const object = decodeObject<StoredObject<T>>(before);
      if (isThere) await this.#sent(() => this.#options.remove(object, { key, before: object, ...client(options) }));
      return this.#collection.delete(scope, key);
    });
  }

  /** Security: the functions of the author may know objects by name alone, and would show them in every logical cluster. */
  #holds({ cluster }: ObjectKey): boolean {
    return this.#options.cluster === "*" || this.#options.cluster === cluster;
  }

  /** Runs a write in its turn, on what the source has now. */
  #turn<R>(key: ObjectKey, { signal }: RequestOptions, act: (found: Found) => Promise<R>): Promise<R> {
    if (!this.#holds(key)) return act({ isThere: false, current: undefined });
    return this.#scanner.turns.take(async () => {
      this.#scanner.checkRead();
      const isThere = await this.#scanner.readKey(key).catch(() => {
        // Security: the reason may be about other objects; the log has it.
        const message = `the source of ${this.#scanner.name} cannot be read, so nothing was written; try again`;
        throw ApiError.serviceUnavailable(message, 1);
      });
      signal.throwIfAborted();
      return act({ isThere, current: this.#current(key) });
    }, signal);
  }

  #current(key: ObjectKey): Encoded | undefined {
    return this.#collection.cache().cache.get(key);
  }

  /** @throws ApiError 404, 409 on another version */
  #checked({ name }: ObjectKey, current: Encoded | undefined, version: string | undefined): Encoded {
    if (current === undefined) throw ApiError.notFound(groupResourceOf(this.resource), name);
    if (version !== undefined && version !== current.resourceVersion) throw modified(this.resource, name);
    return current;
  }

  /** Writes an object, and returns what the source has stored. */
  async #write(
    key: ObjectKey,
    sent: ObjectOf<T>,
    { options, current }: { readonly options: WriteOptions; readonly current: Encoded | undefined },
  ): Promise<Encoded> {
    const { resourceVersion: _, ...metadata } = sent.metadata;
    const placed = inCluster({ ...sent, metadata }, key.cluster);
    // Where all objects are in one logical cluster, their source need not know it.
    const object = this.#options.cluster === "*" ? placed : withoutOwn(placed, (name) => this.ownAnnotations(name));
    const length = Buffer.byteLength(stringifyJson(object));
    const marks = metadata.deletionTimestamp === undefined ? 0 : MARKS;
    if (length > Math.max(MAX_BODY, current?.bytes.length ?? 0) + marks) throw tooLarge(length);
    const before = current && decodeObject<StoredObject<T>>(current);
    await this.#sent(() =>
      this.#options.write(cloneJson(object) as StoredObject<T>, { key, before, ...client(options) }),
    );
    if (!(await this.#readBack(key, placed))) {
      const message = "its source no longer has it: read it before you try again";
      throw ApiError.conflict(groupResourceOf(this.resource), key.name, message);
    }
    return this.#current(key) as Encoded;
  }

  /** Calls a function of the author. When it fails, the source may have changed, and is read again. */
  async #sent(call: () => Awaitable<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      this.scan().catch(() => undefined);
      throw error;
    }
  }

  async #readBack(key: ObjectKey, object: KubeObject): Promise<boolean> {
    try {
      return await this.#scanner.readKey(key, { key, object });
    } catch {
      this.scan().catch(() => undefined);
      const what = `${this.#scanner.name} ${JSON.stringify(key.name)}`;
      throw ApiError.timeout(`${what} was written, but cannot be read back: read it before you try again`, 0);
    }
  }
}

function client({ user, signal }: RequestOptions): Pick<RequestOptions, "user" | "signal"> {
  return { user, signal };
}
