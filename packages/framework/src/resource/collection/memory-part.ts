import { CollectionPart } from "./collection-part.ts";
import type { ReplacedPart, SourceObject } from "./replacement.ts";

/** Methods of a collection in memory that its parts use, besides those of all registries. */
interface MemoryCollection<T extends object> {
  replace(part: ReplacedPart, objects: Iterable<SourceObject<T>>): unknown;
}

/** Objects of a collection in memory, in one logical cluster and namespace. */
export class MemoryPart<T extends object> extends CollectionPart<T, "now"> {
  readonly #collection: MemoryCollection<T>;
  readonly #place: ReplacedPart;

  /** @internal */
  constructor(
    collection: ConstructorParameters<typeof CollectionPart<T, "now">>[0] & MemoryCollection<T>,
    place: ReplacedPart,
  ) {
    super(collection, place);
    this.#collection = collection;
    this.#place = place;
  }

  /**
   * Makes this part hold exactly these objects, which a source outside has. Watches get the differences: an equal object
   * keeps its version and causes no event. Readers see all changes or none, since no other code runs in between; each change
   * has a version of its own.
   *
   * - Fields that the schema does not have are dropped, and defaults are set, as for the writes of clients.
   * - An object keeps uid, creationTimestamp, owner references, finalizers and status unless the source has them. Another uid
   *   is another object: DELETED and ADDED. `generation` grows with the spec. Labels and annotations are the source's.
   * - An object that the source no longer has is removed. While finalizers hold it, it is only marked as being deleted.
   *
   * @throws ApiError 422 that names the first bad object and its fields, before anything changes: metadata, schema, and CEL
   * rules that take less than some 10 ms
   */
  replace(objects: Iterable<SourceObject<T>>): void {
    this.#collection.replace(this.#place, objects);
  }
}
