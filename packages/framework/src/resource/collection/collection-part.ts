import type { StoredObject } from "@virtual-workspaces/apimachinery";
import { ApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { DeleteQuery } from "@virtual-workspaces/apimachinery/requests";
import { groupResourceOf, type TypedDefinition } from "../../definition.ts";
import { contentOf } from "../../watch/cache/encoded.ts";
import type { ObjectDetails } from "./object-details.ts";

/** Argument of `set`: the spec of kinds that have one, otherwise the whole content. */
export type SetValue<T> = "spec" extends keyof T ? Exclude<T["spec"], undefined> : T;

/** Methods of the collection that its parts use. */
interface WholeCollection<T extends object, When extends Timing> {
  readonly resource: TypedDefinition<T>;
  write(
    key: ObjectKey,
    details: ObjectDetails,
    content: (before: StoredObject<T> | undefined) => object,
  ): Answer<When, StoredObject<T>>;
  read(key: ObjectKey): Answer<When, StoredObject<T> | undefined>;
  remove(key: ObjectKey, options: Pick<DeleteQuery, "gracePeriodSeconds">): Answer<When, boolean>;
  all(part: Omit<ObjectKey, "name">): Answer<When, StoredObject<T>[]>;
}

/**
 * Objects of a registry in one logical cluster and namespace.
 *
 * @typeParam When whether methods return results at once, as a collection's do, or promises, as a store's do
 */
export class CollectionPart<T extends object, When extends Timing = "now"> {
  readonly #registry: WholeCollection<T, When>;
  readonly #part: Omit<ObjectKey, "name">;

  constructor(registry: WholeCollection<T, When>, part: Omit<ObjectKey, "name">) {
    this.#registry = registry;
    this.#part = part;
  }

  /**
   * Creates the object or replaces its spec (its whole content where the kind has none). Replaces labels, annotations and
   * finalizers when given, and keeps the status. Equal content causes no change and no event. Removing the last finalizer of
   * an object that is being deleted removes the object. It removes no other objects: for all those of a source, use
   * `MemoryPart.replace` or `polled`.
   *
   * @returns a copy of the object as it is now, or as it was when it was removed
   * @throws ApiError 422 on a name that is no DNS subdomain
   */
  set(name: string, value: SetValue<T>, details: ObjectDetails = {}): Answer<When, StoredObject<T>> {
    const { schema } = this.#registry.resource;
    const whole = schema.properties?.["spec"] === undefined;
    return this.#registry.write(this.#key(name), details, (before) =>
      whole
        ? (value as object)
        : { spec: value, ...(before?.["status"] === undefined ? {} : { status: before["status"] }) },
    );
  }

  /**
   * Replaces the status of an object.
   *
   * @throws ApiError 404 when no object has that name
   */
  setStatus(
    name: string,
    value: T extends { status?: infer Status } ? NonNullable<Status> : never,
  ): Answer<When, StoredObject<T>> {
    return this.#registry.write(this.#key(name), {}, (before) => {
      if (before === undefined) throw ApiError.notFound(groupResourceOf(this.#registry.resource), name);
      return { ...contentOf(before), status: value };
    });
  }

  /** Returns a copy of the object, or `undefined` when there is none. */
  get(name: string): Answer<When, StoredObject<T> | undefined> {
    return this.#registry.read(this.#key(name));
  }

  /**
   * Deletes an object. An object with finalizers, or of a kind with a grace period, is only marked. Its last finalizer
   * removes the first, a delete with `gracePeriodSeconds: 0` the second, as a kubelet sends once a pod has ended.
   *
   * @returns whether the object existed
   */
  delete(name: string, options: { readonly gracePeriodSeconds?: number } = {}): Answer<When, boolean> {
    return this.#registry.remove(this.#key(name), options);
  }

  /** Returns copies of all objects in this part, by name. */
  list(): Answer<When, StoredObject<T>[]> {
    return this.#registry.all(this.#part);
  }

  #key(name: string): ObjectKey {
    return { ...this.#part, name };
  }
}

/** Whether a registry's methods return at once, as one in memory can, or later. */
export type Timing = "now" | "later";

/** Result of a method: the value itself, or a promise of it. */
export type Answer<When extends Timing, R> = When extends "now" ? R : Promise<R>;
