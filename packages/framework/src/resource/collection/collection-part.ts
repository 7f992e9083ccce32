import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { ApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { DeleteQuery } from "@virtual-workspaces/apimachinery/requests";
import { groupResourceOf, type TypedDefinition } from "../../definition.ts";
import { contentOf } from "../../watch/cache/encoded.ts";
import type { ObjectDetails } from "./object-details.ts";

/** What `set` takes: the spec where the kind has one, else the whole content. */
export type SetValue<T> = "spec" extends keyof T ? Exclude<T["spec"], undefined> : T;

/** What a part asks of the collection that it is a part of. */
interface WholeCollection<T extends object, When extends Timing> {
  readonly resource: TypedDefinition<T>;
  write(
    key: ObjectKey,
    details: ObjectDetails,
    content: (before: ObjectOf<T> | undefined) => object,
  ): Answer<When, ObjectOf<T>>;
  read(key: ObjectKey): Answer<When, ObjectOf<T> | undefined>;
  remove(key: ObjectKey, options: Pick<DeleteQuery, "gracePeriodSeconds">): Answer<When, boolean>;
  all(part: Omit<ObjectKey, "name">): Answer<When, ObjectOf<T>[]>;
}

/**
 * The objects of a registry in one logical cluster and namespace.
 *
 * @typeParam When whether it answers at once: a collection does, what is kept in a store gives promises
 */
export class CollectionPart<T extends object, When extends Timing = "now"> {
  readonly #registry: WholeCollection<T, When>;
  readonly #part: Omit<ObjectKey, "name">;

  constructor(registry: WholeCollection<T, When>, part: Omit<ObjectKey, "name">) {
    this.#registry = registry;
    this.#part = part;
  }

  /**
   * Creates the object or replaces its spec (its whole content where the kind has none). Labels, annotations and finalizers
   * are replaced when given, status is kept. Equal content is no change and no event. An object that is being deleted goes
   * with its last finalizer.
   *
   * @returns the object as it now stands, or as it was when it went: a copy.
   * @throws ApiError 422 on a name that is no DNS subdomain.
   */
  set(name: string, value: SetValue<T>, details: ObjectDetails = {}): Answer<When, ObjectOf<T>> {
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
   * @throws ApiError 404 when there is none of that name.
   */
  setStatus(
    name: string,
    value: T extends { status?: infer Status } ? NonNullable<Status> : never,
  ): Answer<When, ObjectOf<T>> {
    return this.#registry.write(this.#key(name), {}, (before) => {
      if (before === undefined) throw ApiError.notFound(groupResourceOf(this.#registry.resource), name);
      return { ...contentOf(before), status: value };
    });
  }

  /** A copy of the object, `undefined` when there is none. */
  get(name: string): Answer<When, ObjectOf<T> | undefined> {
    return this.#registry.read(this.#key(name));
  }

  /**
   * Deletes an object. One that finalizers hold, or whose kind is given time, is only marked: the first goes with its last
   * finalizer, the other when it is deleted with `gracePeriodSeconds: 0`, as a kubelet does once a pod has ended.
   *
   * @returns whether there was one
   */
  delete(name: string, options: { readonly gracePeriodSeconds?: number } = {}): Answer<When, boolean> {
    return this.#registry.remove(this.#key(name), options);
  }

  /** Copies of all objects here, by name. */
  list(): Answer<When, ObjectOf<T>[]> {
    return this.#registry.all(this.#part);
  }

  #key(name: string): ObjectKey {
    return { ...this.#part, name };
  }
}

/** Whether a registry answers its author at once, as one in memory can, or later. */
export type Timing = "now" | "later";

/** What an author's call gives: the result itself, or a promise of it. */
export type Answer<When extends Timing, R> = When extends "now" ? R : Promise<R>;
