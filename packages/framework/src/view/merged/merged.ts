import { ApiError, isClusterName, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { groupResourceOf, type TypedDefinition } from "../../definition.ts";
import type { CacheLease, Scope, Storage } from "../../storage.ts";
import { shareOf, widened } from "../../watch/selection.ts";
import type { ViewSource } from "../view-options.ts";
import { type MergedOptions, type MergedSource, type SourceCondition, second } from "./merged-options.ts";
import { Merging, type MergingOptions, type Slot } from "./merging.ts";
import type { SourceReflector } from "./source-reflector.ts";
import { TimeSlices } from "./time-slices.ts";

/**
 * Objects of one kind from several sources (shards, clusters, spaces) as one collection with its own resource versions. Read
 * only; the version of an object in its source is in {@link SOURCE_VERSION_ANNOTATION}.
 *
 * {@link conditions} and a `Warning` name a source that fails. Its objects stay as last seen, and it is retried until it
 * answers. Only a deletion in the source, a 403 from it, and {@link deleteSource} remove objects.
 */
export class Merged<T extends object = object> implements Storage<ObjectOf<T>>, ViewSource<T> {
  readonly resource: TypedDefinition<T>;
  readonly local = true;
  readonly #options: MergedOptions<T>;
  readonly #merging: MergingOptions["merged"];
  readonly #slots = new Map<string, Slot & { readonly since: Date }>();
  readonly #streams = new Map<string, Merging>();
  /** Initial sources, which decide who shares for good: streams must be found again after sources have changed. */
  readonly #deciding: readonly ViewSource[];
  #placed = 0;

  /** @throws Error on sources of different kinds, on none without `resource`, on malformed names of logical clusters */
  constructor(options: MergedOptions<T>) {
    const { sources, patience = 3_000, linger = 60_000, partial = "known", history, onError } = options;
    const resource = options.resource ?? Object.values(sources).map(resourceOf)[0];
    if (resource === undefined) throw new Error("merged: no source yet: set `resource` to the kind of the sources");
    this.resource = resource;
    this.#options = options;
    const turns = new TimeSlices();
    this.#merging = { patience, linger, partial, turns, onError: onError ?? warn, ...(history && { history }) };
    for (const [name, source] of Object.entries(sources)) this.#slots.set(name, this.#slot(name, source));
    this.#deciding = Array.from(this.#slots.values(), ({ placed }) => placed.source);
  }

  /** Returns the state of each source, in their order. */
  get conditions(): readonly SourceCondition[] {
    return Array.from(this.#slots.values(), ({ name, since }) => conditionOf(name, this.#members(name), since));
  }

  /**
   * Ready hook for a virtual workspace: throws while no source can be reached, or with `partial: "never"` while any cannot.
   * Sources without readers are not checked. A source that answers is reachable, even with a 404 for a logical cluster that
   * it does not have: any client may request one.
   * @throws ApiError 503
   */
  readonly ready = (): void => {
    const failing = [...this.#slots.keys()].filter((name) => this.#members(name).some(({ state }) => !state.answers));
    const most = this.#merging.partial === "never" ? 1 : Math.max(1, this.#slots.size);
    if (failing.length < most) return;
    const names = failing.slice(0, 8).join(", ");
    throw ApiError.serviceUnavailable(`sources of ${this.resource.plural} cannot be reached: ${names}`, 1);
  };

  /**
   * Adds a source after the others, or replaces the one of that name. Open watches see the changes: after a replacement only
   * the differences, once the new source has answered.
   *
   * @throws Error on another kind, and without {@link MergedOptions.shareKey}
   */
  setSource(name: string, source: MergedSource<T>): void {
    if (this.#options.shareKey === undefined) {
      throw new Error(
        `merged ${this.resource.plural}: set \`shareKey\` to add sources: users that share a stream may not see the same objects of the new source`,
      );
    }
    const slot = this.#slot(name, source);
    this.#slots.set(name, slot);
    for (const stream of this.#streams.values()) stream.set(slot);
  }

  /** Removes a source. Its objects are DELETED, except those that another source has too. @returns whether it existed */
  deleteSource(name: string): boolean {
    for (const stream of this.#streams.values()) stream.delete(name);
    return this.#slots.delete(name);
  }

  /** As {@link MergedOptions.shareKey}. */
  shareKey(scope: Scope): string {
    const wide = widened(scope);
    const said = this.#options.shareKey?.(wide) ?? this.#deciding.map((source) => shareOf(source, wide));
    // Path parameters separate callers here, and in views made from this.
    return JSON.stringify([scope.params, said]);
  }

  /** @throws ApiError 503 when no source can be reached, or by {@link PartialAnswers} one of them; 403 when all forbid reading */
  cache(scope: Scope): Promise<CacheLease> {
    const key = JSON.stringify([scope.cluster, this.shareKey(scope)]);
    let stream = this.#streams.get(key);
    if (stream === undefined) {
      const { plural } = this.resource;
      const onIdle = (): void => void this.#streams.delete(key);
      stream = new Merging({ plural, merged: this.#merging, scope: widened(scope), onIdle }, this.#slots.values());
      this.#streams.set(key, stream);
    }
    return stream.lease();
  }

  /** Returns the reflector of a source in each stream. */
  #members(name: string): SourceReflector[] {
    return [...this.#streams.values()].flatMap((stream) => stream.member(name) ?? []);
  }

  #slot(name: string, source: MergedSource<T>): Slot & { readonly since: Date } {
    const [wanted, given] = [this.resource, resourceOf(source)].map((kind) => ({
      ...groupResourceOf(kind),
      version: kind.version,
    }));
    if (wanted?.group !== given?.group || wanted?.resource !== given?.resource || wanted?.version !== given?.version) {
      throw new Error(
        `merged ${this.resource.plural}: source ${name} is of another kind or version: ${given?.resource}.${given?.group}/${given?.version}`,
      );
    }
    const placed = ("source" in source ? source : { source }) as unknown as Slot["placed"];
    if (placed.cluster !== undefined && !isClusterName(placed.cluster)) {
      throw new Error(
        `merged ${this.resource.plural}: source ${name}: ${JSON.stringify(placed.cluster)} is not a logical cluster name`,
      );
    }
    const order = this.#slots.get(name)?.order ?? this.#placed++;
    return { name, order, placed, since: new Date() };
  }
}

/**
 * Returns a {@link Merged} of the given sources.
 *
 * @example
 * ```ts
 * import { defineResource, merged } from "@virtual-workspaces/framework";
 *
 * const Book = defineResource({ group: "example.dev", version: "v1", kind: "Book", scope: "Namespaced" });
 * const [north, south] = [Book.collection(), Book.collection()];
 *
 * const all = merged({ sources: { north: { source: north, cluster: "north" }, south: { source: south, cluster: "south" } } });
 * const served = Book.serve(all, { verbs: ["get", "list", "watch"] });
 * ```
 * @see docs/how-to/several-sources.md
 */
export function merged<T extends object>(options: MergedOptions<T>): Merged<T> {
  return new Merged(options);
}

function resourceOf<T extends object>(source: MergedSource<T>): TypedDefinition<T> {
  return "source" in source ? source.source.resource : source.resource;
}

function warn(error: unknown, source: string): void {
  process.emitWarning(`reading source ${source} of a merged collection failed: ${String(error)}`);
}

/** Reasons in the order in which they decide for several streams. A stream that is still connecting changes nothing. */
const WORST = ["Unreachable", "Forbidden", "Connected", "Connecting"] as const;

/** Combines the states of a source in all streams; `since` is the time when it was added. */
function conditionOf(source: string, members: readonly SourceReflector[], since: Date): SourceCondition {
  const reason = WORST.find((one) => members.some(({ state }) => state.reason === one));
  const state = members.find((member) => member.state.reason === reason)?.state;
  const status =
    reason === "Connected" ? "True" : reason === undefined || reason === "Connecting" ? "Unknown" : "False";
  return {
    source,
    type: "Reachable",
    status,
    reason: reason ?? "Unread",
    message: state?.message ?? "",
    lastTransitionTime: second(state?.since ?? since),
  };
}
