import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "./definition.ts";
import type { Storage } from "./storage.ts";
import type { Admit } from "./write/admission.ts";
import { Writer } from "./write/writer.ts";

/** A verb on objects, by Kubernetes' name. */
export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

/** In the order of discovery documents (alphabetical). */
const VERBS: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** How much of a storage is served, and on what terms. */
export interface ServeOptions<T extends KubeObject = KubeObject> {
  /** Serve only these. @default all that the storage can do, writes included */
  readonly verbs?: readonly Verb[];
  /** Asked before every write. @default nobody is asked */
  readonly admit?: Admit<T>;
}

/** What discovery and OpenAPI tell of a served resource. */
export interface Advertised {
  readonly definition: ResourceDefinition;
  /** Alphabetical. What discovery advertises and what is answered; anything else is 405. */
  readonly verbs: readonly Verb[];
}

/** A kind on a storage: what `resources` of a virtual workspace lists. Made by `Resource.serve`. */
export interface ServedResource extends Advertised {
  readonly storage: Storage;
  /** Where writes go. */
  readonly writer: Writer;
  readonly admit: Admit | undefined;
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
  return Object.freeze({
    definition,
    storage,
    verbs: able.filter((verb) => wanted.includes(verb)),
    writer: new Writer({ definition, storage }),
    admit: options.admit,
  });
}

/** What a storage's methods come to. One that keeps its own history can be read in every way. */
function can(storage: Storage, verb: Verb): boolean {
  const reads = storage.get !== undefined || storage.cache !== undefined;
  const lists = storage.list !== undefined || storage.cache !== undefined;
  switch (verb) {
    case "get":
      return reads;
    case "list":
      return lists;
    case "watch":
      return storage.cache !== undefined || (storage.list !== undefined && storage.changes !== undefined);
    case "create":
      return storage.create !== undefined;
    case "update":
      return storage.update !== undefined && reads;
    case "patch":
      return storage.patch !== undefined || (storage.update !== undefined && reads);
    case "delete":
      return storage.delete !== undefined && reads;
    case "deletecollection":
      return storage.delete !== undefined && reads && lists;
  }
}
