import {
  ApiError,
  CLUSTER_ANNOTATION,
  type KindReference,
  type KubeObject,
  type ObjectKey,
  pathSegmentProblems,
  WILDCARD,
} from "@virtual-workspaces/apimachinery";

/** A kind, whatever its objects hold. */
export type AnyKind = Omit<KindReference, "type">;

/** Where objects of a kind are: a path and a query below the logical cluster. */
export interface ResourceLocation {
  readonly kind: AnyKind;
  readonly cluster: string;
  /** "" for all namespaces. */
  readonly namespace: string;
  /** By whose definition the kind is meant (kcp's resource identity). @default none is said */
  readonly identity?: string;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

const SEGMENT = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;

/** @throws ApiError 400 on a kind that would lead elsewhere in a URL */
export function checkKind({ group, version, plural }: AnyKind): void {
  // kcp's shards have kinds of one name apart by the identity of their export: `widgets:<identity>`.
  const [name = "", identity = "none", ...more] = plural.split(":");
  const parts = { group: group === "" ? "core" : group, version, plural: more.length > 0 ? "" : name, identity };
  for (const [field, text] of Object.entries(parts))
    if (!SEGMENT.test(text))
      throw ApiError.badRequest(`${field} ${JSON.stringify(text)} of a kind: use letters, digits, dots and dashes`);
}

/** @throws ApiError 400 on an identity that would lead elsewhere in a URL */
export function checkIdentity(identity: string): void {
  if (!SEGMENT.test(identity))
    throw ApiError.badRequest(`identity ${JSON.stringify(identity)} of a kind: use letters, digits, dots and dashes`);
}

/** The path of a kind's objects. @throws ApiError 400 on a namespace that is none */
export function collectionPath({ kind, namespace, identity }: ResourceLocation, query: Query = {}): string {
  const { group, version, plural, scope } = kind;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const place = scope === "Namespaced" && namespace !== "" ? `/namespaces/${segment("namespace", namespace)}` : "";
  return `${root}${place}/${plural}${identity === undefined ? "" : `:${identity}`}${search(query)}`;
}

/** The path of one object, or of a subresource of it. @throws ApiError 400 on a name that is none, or without a namespace where it needs one */
export function objectPath(
  place: ResourceLocation,
  name: string,
  { subresource = "", query = {} }: { readonly subresource?: string; readonly query?: Query } = {},
): string {
  if (place.kind.scope === "Namespaced" && place.namespace === "")
    throw ApiError.badRequest(
      `${place.kind.plural} ${JSON.stringify(name)}: say which namespace: in(namespace), or metadata.namespace`,
    );
  const below = subresource === "" ? "" : `/${segment("subresource", subresource)}`;
  return `${collectionPath(place)}/${segment("name", name)}${below}${search(query)}`;
}

/** @throws ApiError 400 on a write to all logical clusters at once */
export function rejectWildcard({ cluster, kind }: ResourceLocation): void {
  if (cluster === WILDCARD)
    throw ApiError.badRequest(
      `${kind.plural} cannot be written in all logical clusters at once: use client.cluster(keyOf(object, client).cluster)`,
    );
}

/** The namespace that a write goes to. @throws ApiError 400 when the object says another one */
export function namespaceOf({ kind, namespace }: ResourceLocation, own: string | undefined): string {
  if (kind.scope === "Cluster" || own === undefined || own === "") return namespace;
  if (namespace !== "" && namespace !== own)
    throw ApiError.badRequest(
      `metadata.namespace ${JSON.stringify(own)} is not the namespace that was chosen by in(${JSON.stringify(namespace)})`,
    );
  return own;
}

/** A text as one segment of a URL. @throws ApiError 400 on what would be another path, or none */
function segment(field: string, text: unknown): string {
  if (typeof text !== "string" || text === "") throw ApiError.badRequest(`${field}: give one that is not empty`);
  const problems = pathSegmentProblems(text);
  if (!text.isWellFormed()) problems.push("must be Unicode");
  if (/\p{Cc}/u.test(text)) problems.push("may not contain control characters");
  if (problems.length > 0) throw ApiError.badRequest(`${field} ${JSON.stringify(text)}: ${problems.join(", ")}`);
  // As Go has it: names of roles are `system:admin`.
  return encodeURIComponent(text).replaceAll("%3A", ":");
}

function search(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) parameters.set(key, String(value));
  return parameters.size === 0 ? "" : `?${parameters}`;
}

/**
 * Which object this is, among those that a client sees: in all logical clusters (`*`) names alone are not unique, and the
 * cluster is what the server says in the annotation `kcp.io/cluster`.
 *
 * @param of the client, or the resource, that the object came from
 * @throws Error in `*`, on an object that does not say its cluster
 */
export function keyOf(
  { metadata: { annotations, namespace = "", name = "" } }: Pick<KubeObject, "metadata">,
  of: { readonly clusterName: string },
): ObjectKey {
  if (of.clusterName !== WILDCARD) return { cluster: of.clusterName, namespace, name };
  const cluster = annotations?.[CLUSTER_ANNOTATION];
  if (cluster === undefined || cluster === "")
    throw new Error(
      `an object called ${JSON.stringify(name)} of all logical clusters does not say which is its own: the server must set the annotation ${CLUSTER_ANNOTATION}`,
    );
  return { cluster, namespace, name };
}
