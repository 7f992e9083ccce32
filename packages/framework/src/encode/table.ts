import {
  ApiError,
  apiVersionOf,
  bookmarkObject,
  compileTable,
  type KubeObject,
  type ObjectMeta,
  quote,
} from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";
import { decodeObject, type Encoded } from "../watch/cache/encoded.ts";
import { listFrame, stringify } from "./json.ts";
import type { ListMetadata, Representation } from "./representation.ts";

/** How much of the object a Table row carries (`includeObject`). */
export type IncludeObject = "None" | "Metadata" | "Object";

/**
 * Reads the `includeObject` parameter.
 *
 * @throws ApiError 400 on anything but the three values.
 */
export function includeObject(query: URLSearchParams): IncludeObject {
  const text = query.get("includeObject") || "Metadata";
  if (text === "None" || text === "Metadata" || text === "Object") return text;
  throw ApiError.badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quote(text)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** What `kubectl get` prints: rows of the kind's columns (Kubernetes' meta.k8s.io/v1 Table). */
export function tableRepresentation(definition: ResourceDefinition, include: IncludeObject): Representation {
  const { definitions, cells } = compileTable(definition.columns);
  const frame = (meta: ListMetadata): { readonly head: Buffer; readonly tail: Buffer } =>
    listFrame({ kind: "Table", apiVersion: "meta.k8s.io/v1", columnDefinitions: definitions }, meta, "rows");
  const row = (object: KubeObject, included = include): object => ({
    cells: cells(object, new Date()),
    ...rowObject(object, included),
  });
  const one = (object: KubeObject, included = include): Buffer => {
    const { head, tail } = frame({ resourceVersion: object.metadata.resourceVersion ?? "" });
    return Buffer.concat([head, stringify(row(object, included)), tail.subarray(0, -1)]);
  };
  // A bookmark says what it has to say in its object's metadata, so it has that whatever was asked for.
  const bookmarked = include === "None" ? "Metadata" : include;
  return {
    key: `table ${include}`,
    contentType: "application/json",
    verbatim: false,
    object: (encoded) => one(decodeObject(encoded)),
    item: (encoded: Encoded) => stringify(row(decodeObject(encoded))),
    list: frame,
    bookmark: (resourceVersion, initialEventsEnd) =>
      one(
        bookmarkObject({
          apiVersion: apiVersionOf(definition),
          kind: definition.kind,
          resourceVersion,
          initialEventsEnd,
        }),
        bookmarked,
      ),
  };
}

function rowObject(object: KubeObject, include: IncludeObject): object {
  if (include === "Object") return { object };
  if (include === "None") return { object: null };
  return {
    object: {
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: object.metadata satisfies ObjectMeta,
    },
  };
}
