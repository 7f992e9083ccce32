import { bookmarkObject, type KubeObject, type ObjectMeta } from "@virtual-workspaces/apimachinery";
import { decodeObject, type Encoded } from "../watch/cache/encoded.ts";
import { listFrame, stringify } from "./json.ts";
import type { Representation } from "./representation.ts";

const META = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" } as const;

/** What is told of an object to those who ask for its metadata alone. */
export interface MetadataForm {
  /** Equal names, equal results for an object: what is written to one watch is written to others by it. */
  readonly name: string;
  /** Given a copy, which it may change. */
  readonly of: (object: KubeObject) => ObjectMeta;
}

/** Metadata alone (Kubernetes' PartialObjectMetadata): what garbage collectors and metadata informers read. */
export function partialRepresentation(form: MetadataForm | undefined): Representation {
  const partial = (encoded: Encoded): Buffer => stringify(partialObject(decodeObject(encoded), form));
  return {
    key: form === undefined ? "partial" : `partial ${form.name}`,
    contentType: "application/json",
    verbatim: false,
    object: partial,
    item: partial,
    list: (meta) => listFrame({ kind: "PartialObjectMetadataList", apiVersion: META.apiVersion }, meta, "items"),
    bookmark: (resourceVersion, initialEventsEnd) =>
      stringify(bookmarkObject({ ...META, resourceVersion, initialEventsEnd })),
  };
}

/** The object's metadata under the kind of its own. */
function partialObject(object: KubeObject, form: MetadataForm | undefined): object {
  const metadata = form === undefined ? object.metadata : form.of(object);
  return { kind: META.kind, apiVersion: META.apiVersion, metadata };
}
