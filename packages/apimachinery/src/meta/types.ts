/** A reference from an object to one that owns it (metav1.OwnerReference). */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  /** Whether the owner is the managing controller; at most one of an object's owners is. */
  controller?: boolean;
  /** Whether deletion of the owner in the foreground waits for this object. */
  blockOwnerDeletion?: boolean;
}

/** Who set which fields of an object, for server-side apply (metav1.ManagedFieldsEntry). */
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
}

/** Any object of any kind, as it is on the wire. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

/** An object of a kind whose content, besides type and metadata, is `T`. */
export type ObjectOf<T> = { apiVersion: string; kind: string; metadata: ObjectMeta; [field: string]: unknown } & T;

/**
 * What one needs to know of a kind to ask a server for its objects. What `defineResource` of the framework gives is one.
 *
 * @typeParam T what an object of the kind holds besides `apiVersion`, `kind` and `metadata`
 */
export interface KindReference<T = object> extends GroupVersion {
  readonly kind: string;
  /** The resource's name in URLs. */
  readonly plural: string;
  readonly scope: "Cluster" | "Namespaced";
  /** Carries the type; never set. */
  readonly type?: (object: T) => T;
}

/** An API group and version; the core group is "". */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** What an object is: group, version and kind. */
export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

/** Where objects are served: group, version and plural resource name. */
export interface GroupVersionResource extends GroupVersion {
  readonly resource: string;
}

/** A resource whatever its version. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** A kind whatever its version. */
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** The identity of an object within one resource: "" where it has no cluster or no namespace. */
export interface ObjectKey {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

/** The `apiVersion` of a group and version: `apps/v1`, and `v1` for the core group. */
export function apiVersionOf(gv: GroupVersion): string {
  return gv.group === "" ? gv.version : `${gv.group}/${gv.version}`;
}

/** The name Kubernetes gives a resource in messages: `quotes.example.dev`, and `pods` in the core group. */
export function formatGroupResource(gr: GroupResource): string {
  return gr.group === "" ? gr.resource : `${gr.resource}.${gr.group}`;
}

/** The name Kubernetes gives a kind in messages: `Quote.example.dev`, and `Pod` in the core group. */
export function formatGroupKind(gk: GroupKind): string {
  return gk.group === "" ? gk.kind : `${gk.kind}.${gk.group}`;
}
