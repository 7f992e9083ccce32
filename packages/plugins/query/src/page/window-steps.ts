import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import {
  CacheEvent,
  decodeObject,
  type Encoded,
  type EventDetails,
  encodeObject,
} from "@virtual-workspaces/framework/storage";
import type { IndexChange } from "../indexes/query-index.ts";
import type { OrderedList } from "../order/ordered-list.ts";
import type { SortKey } from "../order/sort-key.ts";
import type { Window } from "../request/query.ts";

/** Version of a change, and the one before it. */
export interface StepVersions {
  readonly version: string;
  readonly before: string;
}

/**
 * Members of an event of a window. A client resumes exactly from the last `resourceVersion` here, or from a bookmark's: its list
 * is then that of the window at this version.
 */
export interface EventOfWindow {
  /** Index of the object in the window; none for DELETED. */
  readonly position?: number;
  /** Number of objects that match the query. */
  readonly total: number;
  /** Version after this event; none if the change of the source has further events. */
  readonly resourceVersion?: string;
  /** Offset of the window, at the end of the events that lead there from another one. */
  readonly offset?: number;
}

/**
 * Event of a window. A change of the source may take several: one object leaves and another one enters. Informers resume from the
 * version of the last object that they received, so only the last event of a change shows the change's version; earlier ones show
 * a smaller one, and a client that got only those gets them again.
 */
class WindowEvent extends CacheEvent {
  readonly #details: EventOfWindow;
  readonly #shown: string;
  #removed: Encoded | undefined;

  constructor(
    change: { readonly version: string; readonly object: Encoded | undefined; readonly previous: Encoded | undefined },
    details: EventOfWindow,
    shown: string,
  ) {
    super(change.version, change.object, change.previous);
    this.#details = details;
    this.#shown = shown;
  }

  override get details(): EventDetails {
    return { query: this.#details };
  }

  override removed(): Encoded {
    if (this.#shown === this.version) return super.removed();
    this.#removed ??= atVersion(this.previous as Encoded, this.#shown);
    return this.#removed;
  }
}

function atVersion(encoded: Encoded, resourceVersion: string): Encoded {
  const object = decodeObject(encoded);
  object.metadata.resourceVersion = resourceVersion;
  const { key, uid, labels, fields } = encoded;
  return { key, uid, labels, fields, resourceVersion, bytes: encodeObject(object, key.cluster).bytes };
}

/**
 * Objects in a window of an order, and the events of their changes. Applied in turn, the events keep a client's list equal to
 * the window: DELETED removes an object by its key, ADDED inserts one at its position, MODIFIED removes it and inserts it at its
 * new position.
 */
export class WindowSteps {
  readonly #window: Window;
  #contents: readonly Encoded[];

  constructor(order: OrderedList<SortKey>, window: Window) {
    this.#window = window;
    this.#contents = sliceOf(order, window);
  }

  /** Objects in the window, in order. A window without a limit keeps none. */
  get contents(): readonly Encoded[] {
    return this.#contents;
  }

  /** Returns the events of a change. `order` is the order after it. */
  changed({ event, before, after }: IndexChange, order: OrderedList<SortKey>, versions: StepVersions): CacheEvent[] {
    const { limit, offset } = this.#window;
    if (limit === undefined) return streamed({ event, before, after }, order.size);
    const end = offset + limit;
    if ((before ?? end) >= end && (after ?? end) >= end) return [];
    return this.#moveTo(sliceOf(order, this.#window), { total: order.size }, versions);
  }

  /** Returns the events that lead to another window. */
  transition(order: OrderedList<SortKey>, window: Window, versions: StepVersions): CacheEvent[] {
    return this.#moveTo(sliceOf(order, window), { total: order.size, offset: window.offset }, versions);
  }

  #moveTo(
    next: readonly Encoded[],
    { total, offset }: Pick<EventOfWindow, "total" | "offset">,
    { version, before }: StepVersions,
  ): CacheEvent[] {
    const had = new Set(this.#contents);
    const has = new Set(next);
    const gone = new Map<string, Encoded>();
    for (const object of this.#contents) if (!has.has(object)) gone.set(keyText(object.key), object);
    const came: { readonly position: number; readonly object: Encoded; readonly previous: Encoded | undefined }[] = [];
    for (const [position, object] of next.entries()) {
      if (had.has(object)) continue;
      const text = keyText(object.key);
      came.push({ position, object, previous: gone.get(text) });
      gone.delete(text);
    }
    this.#contents = next;
    const count = gone.size + came.length;
    const events: CacheEvent[] = [];
    const end = { resourceVersion: version, ...(offset !== undefined && { offset }) };
    const isLast = (): boolean => events.length === count - 1;
    for (const previous of gone.values()) {
      const details = { total, ...(isLast() && end) };
      events.push(new WindowEvent({ version, object: undefined, previous }, details, isLast() ? version : before));
    }
    for (const { position, object, previous } of came) {
      const details = { position, total, ...(isLast() && end) };
      events.push(new WindowEvent({ version, object, previous }, details, before));
    }
    return events;
  }
}

/** A watch of everything gets every change of the index itself. */
function streamed({ event, before, after }: IndexChange, total: number): CacheEvent[] {
  if (before === undefined && after === undefined) return [];
  const object = after === undefined ? undefined : event.object;
  const previous = before === undefined ? undefined : event.previous;
  const details: EventOfWindow = {
    ...(after !== undefined && { position: after }),
    total,
    resourceVersion: event.version,
  };
  const { version } = event;
  return [new WindowEvent({ version, object, previous }, details, version)];
}

function sliceOf(order: OrderedList<SortKey>, { offset, limit }: Window): readonly Encoded[] {
  return limit === undefined ? [] : order.slice(offset, limit);
}

function keyText({ cluster, namespace, name }: ObjectKey): string {
  return `${cluster}/${namespace}/${name}`;
}
