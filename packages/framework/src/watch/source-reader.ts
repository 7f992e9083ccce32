import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";
import { clusterOf, type Encoded, encodeObject, isEncoded } from "./cache/encoded.ts";
import { isEncodedList, type Scope } from "../storage.ts";
import type { Change } from "../storage-changes.ts";
import { User } from "../request/user.ts";
import type { FeedSource, Versions } from "./source.ts";

/** What is read of which source. */
export interface SourceReaderOptions {
  readonly definition: ResourceDefinition;
  readonly source: FeedSource;
  readonly scope: Scope;
  /** Ends lists and questions; streams have one of their own. */
  readonly signal: AbortSignal;
}

/** Asks a source for all objects of a scope, on behalf of its identity and of no request, and has them encoded. */
export class SourceReader {
  readonly #options: SourceReaderOptions;

  constructor(options: SourceReaderOptions) {
    this.#options = options;
  }

  /** @throws Error when items or version are missing, and what the source's list throws */
  async list(limit?: number): Promise<{ readonly items: readonly Encoded[]; readonly version: string }> {
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

  /** The version that the source has now. */
  async head(): Promise<string> {
    const { source, scope, signal } = this.#options;
    if (source.head !== undefined) return source.head(scope, { signal });
    return (await this.list(1)).version;
  }

  /** Which objects there are, at which versions, as cheaply as the source can tell. */
  async versions(): Promise<Versions> {
    const { source, scope, signal } = this.#options;
    if (source.objectVersions !== undefined) return source.objectVersions(scope, { signal });
    const { items, version } = await this.list();
    return { objects: items, resourceVersion: version };
  }

  /** What happened after a version: a stream. */
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
