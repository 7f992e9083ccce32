import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Past, PastChanges, PastRange } from "../../storage.ts";
import {
  CacheEvent,
  type CacheListener,
  type Objects,
  type Position,
  type ReadableCache,
  type Snapshot,
} from "../../watch/cache/cache-event.ts";
import type { Encoded } from "../../watch/cache/encoded.ts";
import type { Conversions } from "./version-conversions.ts";

/**
 * A cache in another version: the same objects, versions, events and history, with each object converted when it is read. It
 * stores nothing itself, so a client can list in one version and watch in the other.
 */
export class ConvertedCache implements ReadableCache {
  readonly #source: ReadableCache;
  readonly #conversions: Conversions;
  readonly #events: ConvertedEvents;

  constructor(source: ReadableCache, conversions: Conversions, events: ConvertedEvents) {
    this.#source = source;
    this.#conversions = conversions;
    this.#events = events;
  }

  get head(): string {
    return this.#source.head;
  }

  get size(): number {
    return this.#source.size;
  }

  get first(): number {
    return this.#source.first;
  }

  get next(): number {
    return this.#source.next;
  }

  get(key: ObjectKey): Encoded | undefined {
    return this.#converted(this.#source.get(key));
  }

  snapshot(): Snapshot {
    return this.#inside(this.#source.snapshot());
  }

  at(version: string): Snapshot | "expired" | "ahead" {
    const snapshot = this.#source.at(version);
    return typeof snapshot === "string" ? snapshot : this.#inside(snapshot);
  }

  isForeign(version: string): boolean {
    return this.#source.isForeign(version);
  }

  position(version: string): Position {
    return this.#source.position(version);
  }

  reached(version: string): boolean {
    return this.#source.reached(version);
  }

  reach(version: string, options: { readonly signal: AbortSignal; readonly timeout: number }): Promise<void> {
    return this.#source.reach(version, options);
  }

  event(position: number): CacheEvent {
    return this.#events.of(this.#source.event(position));
  }

  listen(listener: CacheListener): Disposable {
    return this.#source.listen({
      event: (event) => listener.event(this.#events.of(event)),
      expired: (message, rejected) => listener.expired(message, rejected),
      advanced: () => listener.advanced?.(),
      forgetting: (before) => listener.forgetting?.(before),
    });
  }

  #inside({ objects, ...at }: Snapshot): Snapshot {
    return { ...at, objects: new ConvertedObjects(objects, this.#conversions) };
  }

  #converted(source: Encoded | undefined): Encoded | undefined {
    return source && this.#conversions.of(source);
  }
}

/** Objects in another version, in the same order. */
class ConvertedObjects implements Objects {
  readonly #source: Objects;
  readonly #conversions: Conversions;

  constructor(source: Objects, conversions: Conversions) {
    this.#source = source;
    this.#conversions = conversions;
  }

  get size(): number {
    return this.#source.size;
  }

  get(key: string): Encoded | undefined {
    const source = this.#source.get(key);
    return source && this.#conversions.of(source);
  }

  *entries(from?: string): Generator<[string, Encoded]> {
    for (const [key, source] of this.#source.entries(from)) yield [key, this.#conversions.of(source)];
  }

  *values(from?: string): Generator<Encoded> {
    for (const source of this.#source.values(from)) yield this.#conversions.of(source);
  }

  forRange(...[low, high, includeHigh, tell]: Parameters<Objects["forRange"]>): unknown {
    return this.#source.forRange(low, high, includeHigh, (key, source) => tell(key, this.#conversions.of(source)));
  }
}

/** Events in another version. Each is converted once, so that it is rendered once for all watches. */
export class ConvertedEvents {
  readonly #conversions: Conversions;
  readonly #known = new WeakMap<CacheEvent, CacheEvent>();

  constructor(conversions: Conversions) {
    this.#conversions = conversions;
  }

  of(event: CacheEvent): CacheEvent {
    let known = this.#known.get(event);
    if (known === undefined) {
      known = new CacheEvent(event.version, this.#converted(event.object), this.#converted(event.previous));
      this.#known.set(event, known);
    }
    return known;
  }

  /** Returns a storage's history in the other version. */
  past(source: Past): Past {
    return {
      changes: async (after, options): Promise<PastChanges> => {
        const { events, version } = await source.changes(after, options);
        return { events: events.map((event) => this.of(event)), version };
      },
      ...(source.waits === undefined ? {} : { waits: source.waits }),
      ...(source.objects === undefined
        ? {}
        : { objects: (version, range, { signal }) => this.#objects(source, { version, range, signal }) }),
    };
  }

  async *#objects(
    source: Past,
    { version, range, signal }: { readonly version: string; readonly range: PastRange; readonly signal: AbortSignal },
  ): AsyncGenerator<Encoded> {
    for await (const object of source.objects?.(version, range, { signal }) ?? []) yield this.#conversions.of(object);
  }

  #converted(source: Encoded | undefined): Encoded | undefined {
    return source && this.#conversions.of(source);
  }
}
