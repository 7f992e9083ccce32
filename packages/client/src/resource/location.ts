import {
  ApiError,
  CLUSTER_ANNOTATION,
  type KindReference,
  type KubeObject,
  type ObjectKey,
  pathSegmentProblems,
  WILDCARD,
} from "@virtual-workspaces/apimachinery";

/** Kind, without the type of its objects. */
export type AnyKind = Omit<KindReference, "type">;

/** Location of a kind's objects: a path and query below the logical cluster. */
export interface ResourceLocation {
  readonly kind: AnyKind;
  readonly cluster: string;
  /** Namespace; "" for all. */
  readonly namespace: string;
  /** Resource identity (kcp). @default none */
  readonly identity?: string;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

const SEGMENT = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;

/** Security: rejects a kind that would lead to another path. @throws ApiError 400 */
export function checkKind({ group, version, plural }: AnyKind): void {
  // kcp's shards distinguish kinds of one name by the identity of their export: `widgets:<identity>`.
  const [name = "", identity = "none", ...more] = plural.split(":");
  const parts = { group: group === "" ? "core" : group, version, plural: more.length > 0 ? "" : name, identity };
  for (const [field, text] of Object.entries(parts))
    if (!SEGMENT.test(text))
      throw ApiError.badRequest(
        `invalid ${field} ${JSON.stringify(text)} of a kind: use letters, digits, dots and dashes`,
      );
}

/** Security: rejects an identity that would lead to another path. @throws ApiError 400 */
export function checkIdentity(identity: string): void {
  if (!SEGMENT.test(identity))
    throw ApiError.badRequest(
      `invalid identity ${JSON.stringify(identity)} of a kind: use letters, digits, dots and dashes`,
    );
}

/** Returns the path of a kind's objects. @throws ApiError 400 for an invalid namespace */
export function collectionPath({ kind, namespace, identity }: ResourceLocation, query: Query = {}): string {
  const { group, version, plural, scope } = kind;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const place = scope === "Namespaced" && namespace !== "" ? `/namespaces/${segment("namespace", namespace)}` : "";
  return `${root}${place}/${plural}${identity === undefined ? "" : `:${identity}`}${search(query)}`;
}

/** Returns the path of an object or subresource. @throws ApiError 400 for an invalid name, or a missing namespace */
export function objectPath(
  place: ResourceLocation,
  name: string,
  { subresource = "", query = {} }: { readonly subresource?: string; readonly query?: Query } = {},
): string {
  if (place.kind.scope === "Namespaced" && place.namespace === "")
    throw ApiError.badRequest(
      `${place.kind.plural} ${JSON.stringify(name)} has no namespace: use in(namespace), or set metadata.namespace`,
    );
  const below = subresource === "" ? "" : `/${segment("subresource", subresource)}`;
  return `${collectionPath(place)}/${segment("name", name)}${below}${search(query)}`;
}

/** @throws ApiError 400 for a write to all logical clusters */
export function rejectWildcard({ cluster, kind }: ResourceLocation): void {
  if (cluster === WILDCARD)
    throw ApiError.badRequest(
      `cannot write ${kind.plural} in all logical clusters at once: use client.cluster(keyOf(object, client).cluster)`,
    );
}

/** Returns the namespace of a write. @throws ApiError 400 if the object names another one */
export function namespaceOf({ kind, namespace }: ResourceLocation, own: string | undefined): string {
  if (kind.scope === "Cluster" || own === undefined || own === "") return namespace;
  if (namespace !== "" && namespace !== own)
    throw ApiError.badRequest(
      `metadata.namespace ${JSON.stringify(own)} differs from the namespace of in(${JSON.stringify(namespace)}): use one of them`,
    );
  return own;
}

/** Encodes a text as one URL segment. @throws ApiError 400 if it is empty or would be another path */
function segment(field: string, text: unknown): string {
  if (typeof text !== "string" || text === "") throw ApiError.badRequest(`${field} is empty: set it`);
  const problems = pathSegmentProblems(text);
  if (!text.isWellFormed()) problems.push("must be Unicode");
  if (/\p{Cc}/u.test(text)) problems.push("may not contain control characters");
  if (problems.length > 0) throw ApiError.badRequest(`${field} ${JSON.stringify(text)}: ${problems.join(", ")}`);
  // Like Go, keep colons: roles have names such as `system:admin`.
  return encodeURIComponent(text).replaceAll("%3A", ":");
}

function search(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) parameters.set(key, String(value));
  return parameters.size === 0 ? "" : `?${parameters}`;
}

/**
 * Returns the key of an object. Across all logical clusters (`*`), names are not unique: the cluster comes from the
 * annotation `kcp.io/cluster`, which the server sets.
 *
 * @param of client or resource that returned the object
 * @throws Error in `*` if the object has no such annotation
 */
export function keyOf(
  { metadata: { annotations, namespace = "", name = "" } }: Pick<KubeObject, "metadata">,
  of: { readonly clusterName: string },
): ObjectKey {
  if (of.clusterName !== WILDCARD) return { cluster: of.clusterName, namespace, name };
  const cluster = annotations?.[CLUSTER_ANNOTATION];
  if (cluster === undefined || cluster === "")
    throw new Error(
      `object ${JSON.stringify(name)} of all logical clusters does not name its own: the server must set the annotation ${CLUSTER_ANNOTATION}`,
    );
  return { cluster, namespace, name };
}
