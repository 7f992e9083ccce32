import type { ResourceDefinition } from "../definition.ts";
import type { ServedResource } from "../resource/served.ts";
import { jsonRepresentation } from "./json.ts";
import type { Wanted } from "./negotiate.ts";
import { partialRepresentation } from "./partial.ts";
import type { Representation } from "./representation.ts";
import { includeObject, tableRepresentation } from "./table.ts";

/** What is to be shown. */
export type Presented = Pick<ServedResource, "definition"> & Partial<Pick<ServedResource, "metadata">>;

/** The representations of the kinds a server knows, each made once. */
export class Representations {
  readonly #made = new WeakMap<ResourceDefinition, Map<string, Representation>>();

  /** @throws ApiError 400 on a malformed `includeObject` */
  of(
    { definition, metadata }: Presented,
    wanted: Wanted,
    request: { readonly query: URLSearchParams },
  ): Representation {
    const include = wanted.as === "Table" ? includeObject(request.query) : "None";
    const key = `${wanted.as ?? ""} ${include} ${metadata?.name ?? ""}`;
    const made = this.#made.get(definition) ?? new Map<string, Representation>();
    this.#made.set(definition, made);
    let representation = made.get(key);
    if (representation === undefined) {
      if (wanted.as === undefined) representation = jsonRepresentation(definition);
      else if (wanted.as === "Table") representation = tableRepresentation(definition, include);
      else representation = partialRepresentation(metadata);
      made.set(key, representation);
    }
    return representation;
  }
}
