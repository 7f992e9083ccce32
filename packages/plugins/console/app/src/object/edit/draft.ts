import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { ObjectAddress } from "../../api/objects.ts";
import type { WholeObject } from "../live-object.ts";
import { guard, memory } from "../memory.ts";
import { type Shown, shownPart, textOf } from "../yaml/object-text.ts";
import { parseText } from "../yaml/parse.ts";
import { type Merged, mergeInto } from "./changes.ts";

/** The text of an object while it is edited. It follows the object until the user changes it. */
export class Draft {
  /** The state that the text was made from. */
  readonly base: Signal<WholeObject>;
  readonly text: Signal<string>;
  readonly shown: Signal<Shown>;
  readonly isDirty: ReadonlySignal<boolean>;
  /** True if the object has changed in what the text shows since the edit began. */
  readonly isOutdated: ReadonlySignal<boolean>;
  readonly newest: Signal<WholeObject>;
  readonly newestText: ReadonlySignal<string>;
  readonly #baseText: ReadonlySignal<string>;

  constructor(object: WholeObject, shown: Shown) {
    this.base = signal(object);
    this.newest = signal(object);
    this.shown = signal(shown);
    this.#baseText = computed(() => textOf(this.base.value, this.shown.value));
    this.newestText = computed(() => textOf(this.newest.value, this.shown.value));
    this.text = signal(this.#baseText.value);
    this.isDirty = computed(() => this.text.value !== this.#baseText.value);
    this.isOutdated = computed(() => this.isDirty.value && this.newestText.value !== this.#baseText.value);
  }

  /** Takes a new state from the server. States that are older than the known one do nothing. */
  receive(object: WholeObject): void {
    if (object === this.newest.peek() || isOlder(object, this.newest.peek())) return;
    const wasDirty = this.isDirty.peek();
    this.newest.value = object;
    if (wasDirty && this.isOutdated.peek()) return;
    this.base.value = object;
    if (!wasDirty) this.text.value = this.#baseText.value;
  }

  setShown(shown: Shown): void {
    if (this.isDirty.peek()) return;
    this.shown.value = shown;
    this.text.value = this.#baseText.value;
  }

  /** Gives up the changes. */
  takeTheirs(): void {
    this.base.value = this.newest.value;
    this.text.value = this.#baseText.value;
  }

  /** Keeps the text as it is; saving it undoes what others have changed. */
  keepMine(): void {
    this.base.value = this.newest.value;
  }

  /** The text with the changes of others. Undefined while the text is no valid YAML. */
  merged(): Merged | undefined {
    const shown = this.shown.peek();
    const text = this.text.peek();
    const mine = parseText(text).value;
    if (mine === undefined) return undefined;
    const base = shownPart(this.base.peek(), shown);
    return mergeInto(text, { base, mine, theirs: shownPart(this.newest.peek(), shown) });
  }

  /** Goes on with a merged text. */
  take({ text }: Merged): void {
    this.base.value = this.newest.value;
    this.text.value = text;
  }
}

const VERSION = /^\d+$/;

function isOlder({ metadata: one }: WholeObject, { metadata: other }: WholeObject): boolean {
  const [a = "", b = ""] = [one.resourceVersion, other.resourceVersion];
  if (one.uid !== other.uid || !VERSION.test(a) || !VERSION.test(b)) return false;
  return BigInt(a) < BigInt(b);
}

/** Changed texts stay while the page is open, whatever else is shown in between. */
const drafts = memory<string, Draft>();

export function draftOf(address: ObjectAddress, object: WholeObject, hasStatusPart: boolean): Draft {
  const key = JSON.stringify([address, object.metadata.uid]);
  const known = drafts.get(key);
  if (known?.isDirty.peek() === true) return known;
  for (const [other, { isDirty }] of drafts) if (!isDirty.peek()) drafts.delete(other);
  const draft = new Draft(object, { serverFields: false, status: !hasStatusPart });
  drafts.set(key, draft);
  return draft;
}

guard(() => [...drafts.values()].some(({ isDirty }) => isDirty.peek()));
