import { apiVersionOf, bookmarkObject, stringifyJson } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";
import type { ListMetadata, Representation } from "./representation.ts";

/** Objects as they are: their own bytes. */
export function jsonRepresentation(definition: ResourceDefinition): Representation {
  const apiVersion = apiVersionOf(definition);
  return {
    key: "json",
    contentType: "application/json",
    verbatim: true,
    object: (encoded) => encoded.bytes,
    item: (encoded) => encoded.bytes,
    list: (meta) => listFrame({ kind: definition.listKind, apiVersion }, meta, "items"),
    bookmark: (resourceVersion, initialEventsEnd) =>
      Buffer.from(
        JSON.stringify(bookmarkObject({ apiVersion, kind: definition.kind, resourceVersion, initialEventsEnd })),
      ),
  };
}

/** What stands around the items of a list document whose other fields are `fields`. */
export function listFrame(
  fields: object,
  meta: ListMetadata,
  items: string,
): { readonly head: Buffer; readonly tail: Buffer } {
  const open = JSON.stringify({ ...fields, metadata: meta }).slice(0, -1);
  return { head: Buffer.from(`${open},${JSON.stringify(items)}:[`), tail: LIST_TAIL };
}

const LIST_TAIL = Buffer.from("]}\n");

/** A document for one object, from its parsed form. */
export function stringify(document: object): Buffer {
  return Buffer.from(stringifyJson(document));
}
