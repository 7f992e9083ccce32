import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Encoded, withResourceVersion } from "./encoded.ts";

/** What clients see of a change. */
export type EventType = "ADDED" | "MODIFIED" | "DELETED";

/** One step of a {@link WatchCache}: an object before and after, at a version. Immutable but for what it remembers. */
export class CacheEvent {
  readonly version: string;
  readonly object: Encoded | undefined;
  readonly previous: Encoded | undefined;
  #removed: Encoded | undefined;
  #rendered: Map<string, Buffer> | undefined;

  constructor(version: string, object: Encoded | undefined, previous: Encoded | undefined) {
    this.version = version;
    this.object = object;
    this.previous = previous;
  }

  /** Of the object that changed. */
  get key(): ObjectKey {
    return ((this.object ?? this.previous) as Encoded).key;
  }

  /** The last seen state under the version of the change that removed it: what DELETED carries. */
  removed(): Encoded {
    const previous = this.previous as Encoded;
    this.#removed ??=
      previous.resourceVersion === this.version ? previous : withResourceVersion(previous, this.version);
    return this.#removed;
  }

  /** `render()`, done once for this event and `key` however many streams ask. */
  rendered(key: string, render: () => Buffer): Buffer {
    this.#rendered ??= new Map();
    let bytes = this.#rendered.get(key);
    if (bytes === undefined) {
      bytes = render();
      this.#rendered.set(key, bytes);
    }
    return bytes;
  }
}
