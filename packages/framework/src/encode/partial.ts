import { bookmarkObject } from "@virtual-workspaces/apimachinery";
import { decodeObject, type Encoded } from "../encoded.ts";
import { listFrame, stringify } from "./json.ts";
import type { Representation } from "./representation.ts";

const META = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" } as const;

/** Metadata alone (Kubernetes' PartialObjectMetadata): what garbage collectors and metadata informers read. */
export function partialRepresentation(): Representation {
  return {
    key: "partial",
    contentType: "application/json",
    verbatim: false,
    object: partial,
    item: partial,
    list: (meta) => listFrame({ kind: "PartialObjectMetadataList", apiVersion: META.apiVersion }, meta, "items"),
    bookmark: (resourceVersion, initialEventsEnd) =>
      stringify(bookmarkObject({ ...META, resourceVersion, initialEventsEnd })),
  };
}

function partial(encoded: Encoded): Buffer {
  return stringify(partialObject(encoded));
}

/** The object's metadata under the kind of its own. */
function partialObject(encoded: Encoded): object {
  return { kind: META.kind, apiVersion: META.apiVersion, metadata: decodeObject(encoded).metadata };
}
