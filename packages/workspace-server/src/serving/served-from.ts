import type { ServedResource, Storage } from "@virtual-workspaces/framework";

/**
 * The same resource from another storage: what is not said anew is asked of the one it has. For watches it is another: one
 * that was opened on the first ends where the second is served.
 */
export function servedFrom(served: ServedResource, anew: Partial<Storage>): ServedResource {
  const storage = new Proxy(served.storage, {
    get: (target, name) => {
      if (Object.hasOwn(anew, name)) return Reflect.get(anew, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return Object.freeze({ ...served, storage });
}

/** What is made of each resource of a list: once of each, and of each list, so that streams are shared. */
export class ServedOnce {
  readonly #make: (served: ServedResource) => ServedResource;
  readonly #lists = new WeakMap<readonly ServedResource[], readonly ServedResource[]>();
  readonly #each = new WeakMap<ServedResource, ServedResource>();

  constructor(make: (served: ServedResource) => ServedResource) {
    this.#make = make;
  }

  of(list: readonly ServedResource[]): readonly ServedResource[] {
    const made = this.#lists.get(list) ?? list.map((served) => this.#once(served));
    this.#lists.set(list, made);
    return made;
  }

  #once(served: ServedResource): ServedResource {
    const made = this.#each.get(served) ?? this.#make(served);
    this.#each.set(served, made);
    return made;
  }
}
