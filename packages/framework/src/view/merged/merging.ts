import { ApiError, CLUSTER_ANNOTATION } from "@virtual-workspaces/apimachinery";
import { timerDelay } from "@virtual-workspaces/transport";
import type { CacheLease, Scope } from "../../storage.ts";
import { decodeObject, type Encoded, encodeObject } from "../../watch/cache/encoded.ts";
import { processMinter } from "../../watch/cache/minter.ts";
import { keyOfText, WatchCache } from "../../watch/cache/watch-cache.ts";
import { SOURCE_VERSION_ANNOTATION } from "../annotations.ts";
import { type MergedOptions, type PlacedSource, warnings } from "./merged-options.ts";
import { SourceReflector } from "./source-reflector.ts";
import type { TimeSlices } from "./time-slices.ts";

/** Place of a source among the others. A replacement takes the same place. */
export interface Slot {
  readonly name: string;
  readonly order: number;
  readonly placed: Partial<PlacedSource> & Pick<PlacedSource, "source">;
}

/** A place, with the reflector that fills it for one stream. */
interface Seat {
  readonly slot: Slot;
  readonly member: SourceReflector;
}

/** An object as it is shown, and the name of its source. */
interface Shown extends Encoded {
  readonly from: string;
}

const NEVER = new AbortController().signal;

export interface MergingOptions {
  readonly plural: string;
  readonly merged: Pick<MergedOptions<object>, "partial" | "history"> & {
    readonly patience: number;
    readonly linger: number;
    readonly turns: TimeSlices;
    readonly onError: (error: unknown, source: string) => void;
  };
  readonly scope: Scope;
  /** Called once, after a while without readers. */
  readonly onIdle: () => void;
}

/** Objects of all sources for one logical cluster (or all) and callers with one share key, with common resource versions. */
export class Merging {
  readonly cache: WatchCache;
  readonly #options: MergingOptions;
  readonly #seats = new Map<string, Seat>();
  /** Names of the sources that have an object, by its key, if there are several. */
  readonly #shared = new Map<string, ReadonlySet<string>>();
  #holders = 0;
  #isBegun = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: MergingOptions, slots: Iterable<Slot>) {
    const { history } = options.merged;
    this.#options = options;
    this.cache = new WatchCache({ version: processMinter.next(), minter: processMinter, ...(history && { history }) });
    for (const slot of slots) this.set(slot);
  }

  get members(): SourceReflector[] {
    return Array.from(this.#seats.values(), ({ member }) => member);
  }

  /** Returns the reflector of a source in this stream. */
  member(name: string): SourceReflector | undefined {
    return this.#seats.get(name)?.member;
  }

  /** Adds a source, or replaces one, whose objects stay until the new one has answered. */
  set(slot: Slot): void {
    const { scope, merged } = this.#options;
    const { name, placed } = slot;
    const before = this.#seats.get(name)?.member;
    before?.stop();
    if (placed.cluster !== undefined && scope.cluster !== "*" && scope.cluster !== placed.cluster) {
      this.delete(name);
      return;
    }
    const member = new SourceReflector(
      {
        name,
        source: placed.source,
        cluster: placed.cluster,
        scope,
        leftOut: placed.leftOut,
        patience: merged.patience,
        turns: merged.turns,
        onError: (error) => merged.onError(error, name),
        onChange: (key) => this.#changed(name, key),
      },
      before?.objects,
    );
    this.#seats.set(name, { slot, member });
  }

  /** Removes a source and its objects. */
  delete(name: string): void {
    const member = this.#seats.get(name)?.member;
    if (member === undefined) return;
    member.stop();
    const keys = [...member.objects.keys()];
    member.objects.clear();
    for (const key of keys) this.#changed(name, key);
    this.#seats.delete(name);
  }

  /** @throws ApiError 503, 403 when the objects of all sources, or of a required one, are unknown */
  async lease(): Promise<CacheLease> {
    this.#holders += 1;
    clearTimeout(this.#idle);
    let held = true;
    const release = (): void => {
      if (held) this.#release();
      held = false;
    };
    try {
      if (this.#isBegun) await this.#askRefused();
      await this.#begun();
      this.#isBegun = true;
      this.#check(({ joined }) => !joined);
      return {
        cache: this.cache,
        confirm: (request) => this.#confirm(request),
        checkAbsent: () => this.#refuse(this.members.filter(({ isMissing }) => isMissing)),
        [Symbol.dispose]: release,
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** When all sources forbid reading, retries them at once: they answer, and permissions may have changed. */
  async #askRefused(): Promise<void> {
    const { members } = this;
    if (members.some(({ joined, state }) => joined || state.reason !== "Forbidden")) return;
    await Promise.all(members.map((member) => member.confirm(NEVER)));
  }

  /** Also waits for sources added meanwhile: there may be no others. */
  async #begun(): Promise<void> {
    const waited = new Set<SourceReflector>();
    const left = (): SourceReflector[] => this.#needed.filter((one) => !waited.has(one));
    for (let some = left(); some.length > 0; some = left())
      await Promise.all(some.map((member) => waited.add(member) && member.begun));
  }

  #confirm(request: Parameters<CacheLease["confirm"]>[0]): void | Promise<void> {
    const pending = this.#needed
      .map((member) => member.confirm(request.signal))
      .filter((one) => one instanceof Promise);
    if (pending.length === 0) return this.#confirmed(request);
    return Promise.all(pending).then(() => this.#confirmed(request));
  }

  #confirmed({ warn }: Parameters<CacheLease["confirm"]>[0]): void {
    const failing = this.#check(({ isReadable }) => !isReadable);
    if (warn !== undefined) for (const text of warnings(failing)) warn(text);
  }

  /** Sources that answers wait for. */
  get #needed(): SourceReflector[] {
    return this.members.filter(({ isSkipped }) => !isSkipped);
  }

  /** Returns the failing sources if an answer may leave them out. @throws ApiError as {@link #refuse} */
  #check(fails: (member: SourceReflector) => boolean): readonly SourceReflector[] {
    const failing = this.members.filter(fails);
    const { partial } = this.#options.merged;
    if (partial === "never") this.#refuse(failing);
    const needed = failing.filter(({ isSkipped }) => !isSkipped);
    if (needed.length === this.#needed.length) this.#refuse(needed);
    if (partial === "known") this.#refuse(failing.filter(({ isMissing }) => isMissing));
    return failing;
  }

  /** @throws ApiError 403 when all sources forbid reading, otherwise 503 */
  #refuse(failing: readonly SourceReflector[]): void {
    const [first] = failing;
    if (first === undefined) return;
    const { plural } = this.#options;
    const refused =
      failing.length === this.#needed.length && failing.every(({ state }) => state.reason === "Forbidden");
    if (refused) {
      const resource = { group: "", resource: plural };
      throw ApiError.forbidden({ resource, name: "", message: "no source allows reading its objects" });
    }
    const more = failing.length === 1 ? "" : ` and ${failing.length - 1} more`;
    throw ApiError.serviceUnavailable(
      `source ${first.name}${more} of ${plural} cannot be reached for now: try again`,
      1,
    );
  }

  /** Updates an object: the first source that has it decides. */
  #changed(name: string, text: string): void {
    const key = keyOfText(text);
    const shown = this.cache.get(key) as Shown | undefined;
    const having = new Set(this.#shared.get(text)).add(name);
    if (shown !== undefined) having.add(shown.from);
    for (const one of having) if (!this.#has(one, text)) having.delete(one);
    if (having.size > 1) this.#shared.set(text, having);
    else this.#shared.delete(text);
    const first = this.#firstOf(having);
    if (first !== undefined && first !== name && first === shown?.from) return;
    if (shown !== undefined && this.#object(first, text)?.uid !== shown.uid) {
      // Another object gets its own version, since a watch may end between the deletion and the addition.
      this.cache.delete(key, processMinter.next());
    }
    const next = first === undefined ? undefined : this.#shown(first, text);
    if (next !== undefined) this.cache.set(next);
    else if (this.cache.get(key) !== undefined) this.cache.delete(key, processMinter.next());
  }

  #object(name: string | undefined, text: string): Encoded | undefined {
    return name === undefined ? undefined : this.#seats.get(name)?.member.objects.get(text);
  }

  #has(name: string, text: string): boolean {
    return this.#object(name, text) !== undefined;
  }

  #firstOf(names: ReadonlySet<string>): string | undefined {
    let first: Seat | undefined;
    for (const name of names) {
      const seat = this.#seats.get(name);
      if (first === undefined || (seat !== undefined && seat.slot.order < first.slot.order)) first = seat;
    }
    return first?.slot.name;
  }

  /** Returns the object at a version of this collection; `undefined` when it cannot be decoded. */
  #shown(from: string, text: string): Shown | undefined {
    const source = this.#object(from, text) as Encoded;
    const key = keyOfText(text);
    try {
      const object = decodeObject(source);
      const resourceVersion = processMinter.next();
      const { metadata } = object;
      const besides = this.#seats.get(from)?.slot.placed.annotations;
      metadata.annotations = {
        ...metadata.annotations,
        ...besides,
        [SOURCE_VERSION_ANNOTATION]: source.resourceVersion,
      };
      if (key.cluster !== "") metadata.annotations[CLUSTER_ANNOTATION] = key.cluster;
      metadata.resourceVersion = resourceVersion;
      const { uid, labels, fields } = source;
      return { key, resourceVersion, uid, labels, fields, bytes: encodeObject(object, key.cluster).bytes, from };
    } catch (error) {
      this.#options.merged.onError(error, from);
      return undefined;
    }
  }

  #release(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    this.#idle = setTimeout(() => {
      this.#options.onIdle();
      for (const member of this.members) member.stop();
    }, timerDelay(this.#options.merged.linger)).unref();
  }
}
