import type { Encoded } from "../../watch/cache/encoded.ts";
import type { Past, PastChanges, PastRange } from "../../storage-changes.ts";
import { CacheEvent } from "../../watch/cache/event.ts";
import type { Conversions } from "./conversions.ts";

/** Events in another version: each is made once, so that it is rendered once, however many watch. */
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

  /** What a storage remembers, in the other version. */
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
