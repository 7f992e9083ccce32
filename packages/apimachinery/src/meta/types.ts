/** Reference from an object to its owner (metav1.OwnerReference). */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  /** Whether the owner is the managing controller. At most one owner of an object is. */
  controller?: boolean;
  /** Whether foreground deletion of the owner waits for this object. */
  blockOwnerDeletion?: boolean;
}

/** Fields of an object that one manager owns, for server-side apply (metav1.ManagedFieldsEntry). */
export interface ManagedFieldsEntry {
  manager?: string;
  operation?: "Apply" | "Update";
  apiVersion?: string;
  /** RFC 3339. */
  time?: string;
  fieldsType?: string;
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

/** Metadata of every object (metav1.ObjectMeta). Times are RFC 3339 in UTC. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  selfLink?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

/** Metadata of a list (metav1.ListMeta). */
export interface ListMeta {
  selfLink?: string;
  resourceVersion?: string;
  /** Token of the next page; absent on the last one. */
  continue?: string;
  /** Objects after this page; absent when a selector makes it unknown. */
  remainingItemCount?: number;
  /** The shard selector that limits the list; absent in a list of all objects. Alpha in Kubernetes 1.36. */
  shardInfo?: { selector: string };
}

/** Object of any kind, as on the wire. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

/** Object of a kind (`ObjectOf<typeof Note>`), or of a kind whose content, besides type and metadata, is `T`. */
export type ObjectOf<T> = {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
} & ContentOf<T>;

/** Object as a server stores and returns it, which has a name: see {@link ObjectOf}. */
export type StoredObject<T> = ObjectOf<T> & { metadata: { name: string } };

/**
 * Type of the `spec` of a kind: `SpecOf<typeof Note>` is `{ text: string }` for a kind with that schema; `never` without a spec.
 */
export type SpecOf<T> = ContentOf<T> extends { readonly spec?: infer Spec } ? NonNullable<Spec> : never;

type ContentOf<T> = T extends KindReference<infer Content> ? Content : T;

/**
 * Facts about a kind that a client needs to request its objects. The framework's `defineResource` returns one.
 *
 * @typeParam T content of an object of the kind besides `apiVersion`, `kind` and `metadata`
 */
export interface KindReference<T = object> extends GroupVersion {
  readonly kind: string;
  /** Name of the resource in URLs. */
  readonly plural: string;
  readonly scope: "Cluster" | "Namespaced";
  /** Carries the type; never set. */
  readonly type?: (object: T) => T;
}

/** API group and version; the core group is "". */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** Type of an object: group, version and kind. */
export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

/** Served resource: group, version and plural resource name. */
export interface GroupVersionResource extends GroupVersion {
  readonly resource: string;
}

/** Resource in any version. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** Kind in any version. */
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** Identity of an object within one resource; "" for a missing cluster or namespace. */
export interface ObjectKey {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

/** Returns the `apiVersion` of a group and version: `apps/v1`, and `v1` for the core group. */
export function apiVersionOf(gv: GroupVersion): string {
  return gv.group === "" ? gv.version : `${gv.group}/${gv.version}`;
}

/** Formats a resource as Kubernetes does in messages: `quotes.example.dev`, and `pods` in the core group. */
export function formatGroupResource(gr: GroupResource): string {
  return gr.group === "" ? gr.resource : `${gr.resource}.${gr.group}`;
}

/** Formats a kind as Kubernetes does in messages: `Quote.example.dev`, and `Pod` in the core group. */
export function formatGroupKind(gk: GroupKind): string {
  return gk.group === "" ? gk.kind : `${gk.kind}.${gk.group}`;
}
