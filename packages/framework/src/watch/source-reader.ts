import { isApiError, type KubeObject, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { compareResourceVersions } from "@virtual-workspaces/apimachinery/requests";
import type { ResourceDefinition } from "../definition.ts";
import { User } from "../request/user.ts";
import { type Change, isEncodedList, type Scope } from "../storage.ts";
import { clusterOf, type Encoded, encodeObject, isEncoded } from "./cache/encoded.ts";
import type { WatchCache } from "./cache/watch-cache.ts";
import type { FeedSource, Versions } from "./source.ts";

/** Source to read, and its scope. */
export interface SourceReaderOptions {
  readonly definition: ResourceDefinition;
  readonly source: FeedSource;
  readonly scope: Scope;
  /** Aborts lists and single reads; streams have a signal of their own. */
  readonly signal: AbortSignal;
}

/** All objects of a scope at a version. */
export interface ListedObjects {
  readonly items: readonly Encoded[];
  readonly version: string;
}

/** Reads all objects of a scope from a source and encodes them. Uses the scope's identity, outside of any request. */
export class SourceReader {
  readonly #options: SourceReaderOptions;

  constructor(options: SourceReaderOptions) {
    this.#options = options;
  }

  /** @throws Error when items or version are missing; errors of the source's list */
  async list(limit?: number): Promise<ListedObjects> {
    const { source, scope, definition, signal } = this.#options;
    const list = await source.list?.(scope, {
      user: new User(scope.identity),
      signal,
      requestId: "",
      warn: () => undefined,
      ...(limit === undefined ? {} : { limit }),
    });
    if (list === undefined || isEncodedList(list) || list.resourceVersion === undefined) {
      throw new Error(`${definition.plural}: a storage with changes() must list items with a resourceVersion`);
    }
    return { items: Array.from(list.items, (item) => this.encode(item)), version: list.resourceVersion };
  }

  /** Returns the current version of the source. */
  async head(): Promise<string> {
    const { source, scope, signal } = this.#options;
    if (source.head !== undefined) return source.head(scope, { signal });
    return (await this.list(1)).version;
  }

  /** Returns the versions of all objects, as cheaply as the source allows. */
  async versions(): Promise<Versions> {
    const { source, scope, signal } = this.#options;
    if (source.objectVersions !== undefined) return source.objectVersions(scope, { signal });
    const { items, version } = await this.list();
    return { objects: items, resourceVersion: version };
  }

  /** Streams the changes after a version. */
  changes(after: string, signal: AbortSignal): AsyncIterable<Change> | readonly Change[] {
    const { source, scope } = this.#options;
    return source.changes?.(scope, after, { signal }) ?? [];
  }

  encode(object: KubeObject | Encoded): Encoded {
    if (isEncoded(object)) return object;
    const { definition, scope } = this.#options;
    return encodeObject(object, clusterOf(object, scope), definition.selectableFields);
  }
}

/** Cache of a {@link StreamWriter}, and what it knows of the source. */
interface StreamWriterOptions extends Pick<SourceReaderOptions, "definition" | "scope"> {
  readonly cache: WatchCache;
  readonly reader: Pick<SourceReader, "encode">;
}

/** Writes the changes of one stream into a cache, each of them once. */
export class StreamWriter {
  readonly #options: StreamWriterOptions;
  /** Version of the last change. */
  #told = "";

  constructor(options: StreamWriterOptions) {
    this.#options = options;
  }

  /** @returns `false` when the source has lost its history @throws Error on a change without a version */
  write(change: Change): boolean {
    const { cache, reader, definition } = this.#options;
    if (change.type === "expired") return false;
    if (change.type === "progress") {
      cache.advance(change.resourceVersion);
      return true;
    }
    const object = change.type === "set" ? reader.encode(change.object) : undefined;
    const version = change.type === "set" ? (object?.resourceVersion ?? "") : change.resourceVersion;
    if (!/^[1-9]\d*$/.test(version))
      throw new Error(`${definition.plural}: changes() must send a resource version with each change`);
    // A source that resumes may repeat its last changes; several changes may have one version.
    const order = compareResourceVersions(version, cache.head);
    if (order < 0 || (order === 0 && version !== this.#told)) return true;
    if (object === undefined) {
      if (change.type === "delete") cache.delete(this.#placed(change.key), version);
    } else if (order > 0 || cache.get(object.key)?.resourceVersion !== version) cache.set(object, version);
    this.#told = version;
    return true;
  }

  /** Returns the key as its `set` had it: only a stream over all logical clusters names the logical cluster. */
  #placed(key: ObjectKey): ObjectKey {
    const { cluster } = this.#options.scope;
    return cluster === "*" ? key : { ...key, cluster };
  }
}

/** Whether a source rejects reading (403) or has nothing to read (404), in contrast to a temporary failure. */
export class SourceRejection {
  #stands = false;

  get stands(): boolean {
    return this.#stands;
  }

  /** @returns the message for readers, if the rejection is new */
  note(error: unknown): string | undefined {
    if (!isApiError(error) || (error.code !== 403 && error.code !== 404)) return undefined;
    const news = !this.#stands;
    this.#stands = true;
    return news
      ? `too old resource version: the source of this view cannot be read any more: ${error.message}`
      : undefined;
  }

  lift(): void {
    this.#stands = false;
  }
}
