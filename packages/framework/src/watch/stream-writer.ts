import { compareResourceVersions, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Change } from "../storage-changes.ts";
import type { WatchCache } from "./cache/cache.ts";
import type { SourceReader, SourceReaderOptions } from "./source-reader.ts";

/** Where {@link StreamWriter} writes, and what it knows of the source. */
export interface StreamWriterOptions extends Pick<SourceReaderOptions, "definition" | "scope"> {
  readonly cache: WatchCache;
  readonly reader: Pick<SourceReader, "encode">;
}

/** Writes into a cache what one stream of a source tells, and nothing twice. */
export class StreamWriter {
  readonly #options: StreamWriterOptions;
  /** The version of the last change. */
  #told = "";

  constructor(options: StreamWriterOptions) {
    this.#options = options;
  }

  /** @throws Error on a change without a version */
  write(change: Exclude<Change, { type: "expired" }>): void {
    const { cache, reader, definition } = this.#options;
    if (change.type === "progress") {
      cache.advance(change.resourceVersion);
      return;
    }
    const object = change.type === "set" ? reader.encode(change.object) : undefined;
    const version = change.type === "set" ? (object?.resourceVersion ?? "") : change.resourceVersion;
    if (!/^[1-9]\d*$/.test(version)) throw new Error(`${definition.plural}: change without a resource version`);
    // A source that is asked again may repeat the last of what it told; several changes of one version follow one another.
    const order = compareResourceVersions(version, cache.head);
    if (order < 0 || (order === 0 && version !== this.#told)) return;
    if (object === undefined) {
      if (change.type === "delete") cache.delete(this.#placed(change.key), version);
    } else if (order > 0 || cache.get(object.key)?.resourceVersion !== version) cache.set(object, version);
    this.#told = version;
  }

  /** The object's key as its `set` had it: only a stream over all logical clusters says which one is meant. */
  #placed(key: ObjectKey): ObjectKey {
    const { cluster } = this.#options.scope;
    return cluster === "*" ? key : { ...key, cluster };
  }
}
