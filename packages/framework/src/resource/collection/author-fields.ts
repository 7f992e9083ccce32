import { isDeepStrictEqual } from "node:util";
import type { StoredObject } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "../../definition.ts";
import { fieldOwners } from "../../write/field-owners.ts";
import type { FieldOwners } from "../../write/write-rules.ts";
import { specOf } from "./object-details.ts";

/** Field manager in `managedFields` of the fields that the author's code sets. */
const AUTHOR = "virtual-workspaces";

/** Ownership of the fields that the author's code changes. */
export class AuthorFields<T extends object> {
  readonly #resource: TypedDefinition<T>;
  #owners: FieldOwners | undefined;

  constructor(resource: TypedDefinition<T>) {
    this.#resource = resource;
  }

  /** Assigns the fields that the author changes to the author, once any field has an owner. */
  own(next: StoredObject<T>, before: StoredObject<T> | undefined, now: Date): StoredObject<T> {
    if (before?.metadata.managedFields === undefined) return next;
    this.#owners ??= fieldOwners(this.#resource);
    const isStatus = isDeepStrictEqual(specOf(next), specOf(before)) && this.#resource.subresources.status;
    const subresource = isStatus ? "status" : "";
    return this.#owners.update({ live: before, next, manager: AUTHOR, subresource, now }) as StoredObject<T>;
  }
}
