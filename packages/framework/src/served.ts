import type { ResourceDefinition } from "./definition.ts";
import type { Storage } from "./storage.ts";

/** A verb on objects, by Kubernetes' name. */
export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

/** In the order of discovery documents (alphabetical). */
const VERBS: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** How much of a storage is served. */
export interface ServeOptions {
  /** Serve only these. @default all that the storage can do */
  readonly verbs?: readonly Verb[];
}

/** A kind on a storage: what `resources` of a virtual workspace lists. Made by `Resource.serve`. */
export interface ServedResource {
  readonly definition: ResourceDefinition;
  readonly storage: Storage;
  /** Alphabetical. What discovery advertises and what is answered; anything else is 405. */
  readonly verbs: readonly Verb[];
}

export function serveStorage(definition: ResourceDefinition, storage: Storage, options: ServeOptions): ServedResource {
  const able = VERBS.filter((verb) => can(storage, verb));
  const wanted = options.verbs ?? able;
  const unable = wanted.filter((verb) => !able.includes(verb));
  if (unable.length > 0) {
    throw new Error(
      `${definition.plural}: its storage cannot ${unable.join(", ")}; it can ${able.join(", ") || "nothing"}. ` +
        "Leave the verb out of `verbs` or add the method.",
    );
  }
  return Object.freeze({ definition, storage, verbs: able.filter((verb) => wanted.includes(verb)) });
}

/** What a storage that keeps its own history can do at once, and what the others can. Writes come with the write half. */
function can(storage: Storage, verb: Verb): boolean {
  if (verb !== "get" && verb !== "list" && verb !== "watch") return false;
  if (storage.cache !== undefined) return true;
  return verb === "watch" ? storage.list !== undefined && storage.changes !== undefined : storage[verb] !== undefined;
}
