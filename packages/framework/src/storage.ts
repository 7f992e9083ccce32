import type { IncomingHttpHeaders } from "node:http";
import type { KubeObject, ObjectKey, ObjectMeta, Status } from "@virtual-workspaces/apimachinery";
import type { FieldValidation, Preconditions, PropagationPolicy } from "@virtual-workspaces/apimachinery/requests";
import type { FieldSelector, LabelSelector, ShardSelector } from "@virtual-workspaces/apimachinery/selectors";
import type { BodySink, Cancellation, SinkControl } from "@virtual-workspaces/transport";
import type { KindVersions, ResourceDefinition } from "./definition.ts";
import type { Identity, User } from "./request/user.ts";
import type { Awaitable } from "./util/awaitable.ts";
import type { CacheEvent, ReadableCache } from "./watch/cache/cache-event.ts";
import type { Encoded } from "./watch/cache/encoded.ts";

/**
 * Request data that a stream may use and keep after the request that opened it has ended. Data of one request only (its
 * signal, its id) is in {@link RequestOptions}, never here.
 *
 * Security: callers with an equal {@link Storage.shareKey} may share a stream opened for one of them.
 */
export interface Scope {
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Logical cluster, `*` for all of them, "" where the path has none. */
  readonly cluster: string;
  /** Namespace, "" for all of them and for cluster-scoped kinds. */
  readonly namespace: string;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  /** Identity of the caller. */
  readonly identity: Identity;
  /**
   * Number of API servers that forwarded the request (kcp's `X-Kcp-Virtual-Resource-Hops`). A storage that forwards it adds
   * one.
   * @default 0
   */
  readonly hops?: number;
  /** Names of those servers and of this view, for the `Via` header of a forwarded request. @default none */
  readonly via?: string;
}

/** Receives annotations of a request's audit events. */
export interface AuditAnnotations {
  /**
   * Adds an annotation; one that exists stays. Beyond a limit on their length, annotations are left out.
   * @param level `Request` for an annotation with parts of the object: only events with the object have it. @default all events
   */
  annotate(key: string, value: string, level?: "Request"): void;
}

/** Data of one request. */
export interface RequestOptions {
  readonly user: User;
  /** Aborts when the client leaves, the deadline passes, or the server stops draining. */
  readonly signal: AbortSignal;
  /** Ends the request as `signal` does, at a fraction of its cost. @default only the signal, without {@link Storage.keepsOptions} */
  readonly cancellation?: Cancellation;
  readonly requestId: string;
  /** Adds a `Warning` header (code 299) to the response; kubectl prints it. */
  readonly warn: (text: string) => void;
  /** Annotations of the request's audit events. @default the request is not recorded */
  readonly audit?: AuditAnnotations | undefined;
  /** `Accept-Encoding` of the request, for a storage that proxies the response of another server. */
  readonly acceptEncoding?: string | undefined;
  /** Request headers by lower-case name, for custom headers. @default none, where there is no request */
  readonly headers?: IncomingHttpHeaders;
}

/** Options of a get. */
export interface GetOptions extends RequestOptions {
  /** The oldest version the caller accepts; `0`: any version. @default the current version */
  readonly resourceVersion?: string;
}

/** Options of a list: a page, a version (Kubernetes' `ListOptions`). */
export interface ListRequest extends RequestOptions {
  /** Largest number of items in this page. @default all */
  readonly limit?: number;
  /** Continue token: {@link ItemList.continue} of the previous page. */
  readonly continue?: string;
  /** Like {@link GetOptions.resourceVersion}, or interpreted by {@link resourceVersionMatch}. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
  /**
   * Share of the objects that the client requests. The framework leaves out the others even if the storage {@link
   * Storage.appliesSelectors}; a storage may leave them out earlier, to transfer less.
   * @default all objects
   */
  readonly shard?: ShardSelector;
  /** Whether items need their types: a storage may fetch them so ({@link EncodedList.typedItems}). @default false */
  readonly typedItems?: boolean;
}

/** A list of items, parsed or encoded. Over all logical clusters, parsed items name theirs in the annotation `kcp.io/cluster`. */
export interface ItemList<T extends KubeObject = KubeObject> {
  readonly items: Iterable<T | Encoded>;
  /** Version of the list as a consistent snapshot. Required of a storage with {@link Storage.changes}. */
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
  /** Further fields of the list's metadata, as JSON. Kubernetes' clients ignore them. @default none */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A list as the bytes of its whole body, forwarded unread. Only from a storage that {@link Storage.appliesSelectors}. */
export interface EncodedList {
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /** Media type of `body`. @default "application/json" */
  readonly contentType?: string;
  /** `Content-Encoding` of `body`, such as `gzip`. @default none */
  readonly contentEncoding?: string;
  /** Length of `body` in bytes, where it is known in advance; sent to clients. @default unknown, except for a `Uint8Array` */
  readonly length?: number;
  /** Gives the unread `body` to a sink, which costs less than reading it. @default the framework reads it */
  readonly into?: (sink: BodySink) => SinkControl;
  /** Whether all items have `kind` and `apiVersion`. @default false: the framework looks, where it matters */
  readonly typedItems?: boolean;
}

/** Result of a list. */
export type ListResult<T extends KubeObject = KubeObject> = ItemList<T> | EncodedList;

/**
 * A source of objects. Discovery advertises the verbs of the methods that exist; the framework builds the rest (Table, watch,
 * pagination, selectors, errors). The framework calls all methods after authorization only. A thrown `ApiError` is the
 * response; anything else is 500 without its text.
 */
export interface Storage<T extends KubeObject = KubeObject> {
  /** Returns an object; `undefined` is answered 404. */
  get?(scope: Scope, key: ObjectKey, options: GetOptions): Awaitable<T | Encoded | undefined>;
  /**
   * Returns an object before a write, where {@link get} or {@link cache} may be older than the source. A write that would
   * change nothing ends with it. @default `get`, otherwise the cache
   */
  getCurrent?(scope: Scope, key: ObjectKey, options: RequestOptions): Awaitable<T | Encoded | undefined>;
  /** Lists objects. Without {@link appliesSelectors} the framework filters the result by namespace and selectors. */
  list?(scope: Scope, options: ListRequest): Awaitable<ListResult<T>>;
  /**
   * Streams changes after a version that `list` returned; with `list` it makes watch. When the iterator ends, the framework
   * resumes from its last version. An exception is a failing source: the framework retries with backoff, and open watches
   * stay. A thrown `ApiError` with code 410 is the same as `expired`.
   */
  changes?(scope: Scope, after: string, options: ChangesOptions): AsyncIterable<Change<T>>;
  /** Returns the source's current version, cheaper than a list. @default a list with limit 1 */
  head?(scope: Scope, options: ChangesOptions): Awaitable<string>;
  /**
   * Returns the key by which callers share a stream: equal keys, one stream. `undefined`: only requests of the same identity
   * share.
   *
   * Security: the key must contain everything that the source's response depends on; anything left out leaks from one caller
   * to another.
   * @default undefined
   */
  shareKey?(scope: Scope): string | undefined;
  /**
   * Whether the storage applies namespace and selectors; only equal requests then share a stream. It gets each get and list,
   * even if it has a {@link cache}, which serves watches.
   * @default false
   */
  readonly appliesSelectors?: boolean;
  /** Whether `get`, and without {@link pass} writes, do not copy their options: the `signal` is made on first read. @default false */
  readonly keepsOptions?: boolean;
  /**
   * Whether its versions, or its objects, are valid in this process only, as those of a collection or a view. Where several processes
   * serve the same virtual workspace, one of them then serves it: `CoreOptions.peers`. @default false, any process can answer
   */
  readonly local?: boolean;
  /** Returns the watch cache of a storage with its own history (a collection, a view); `changes` is then never called. */
  cache?(scope: Scope): Awaitable<CacheLease>;

  /**
   * Stores a new object. The framework has validated it, filled in its metadata except the resource version, which the
   * storage sets, and rejected it if `get` returns an object of its name. Another create may have come between, so the
   * storage checks again while it stores.
   * @returns the object as stored.
   * @throws ApiError 409 `AlreadyExists` when the name is taken
   */
  create?(scope: Scope, object: T, options: WriteOptions): Awaitable<T | Encoded>;
  /**
   * Replaces an object whole, if its version is still `object.metadata.resourceVersion`.
   * @returns the object as stored.
   * @throws ApiError 409 `Conflict` when it has changed, 404 when it is gone; the framework then retries if a new read gives
   * another object, unless the client insists on the version
   */
  update?(scope: Scope, object: T, options: WriteOptions): Awaitable<T | Encoded>;
  /**
   * Takes creates and updates unread, so that the upstream alone decides about them; `patch`, `delete` and `deleteCollection`
   * as well. Replaces `create` and `update` for client requests, unless there is an `admit`, which needs objects. An update
   * that may create needs permission to create first.
   * @default the framework parses the body and calls `create` or `update`
   */
  pass?(scope: Scope, write: SentWrite): Awaitable<Written<T>>;
  /**
   * Removes an object, if its version is still `preconditions.resourceVersion`. Called when nothing holds it any more: the
   * framework handles finalizers and grace periods, and marks the object by `update` first.
   *
   * @returns the object if something still holds it, else nothing, or the Status of the deletion
   * @throws ApiError 409 `Conflict` when it has changed, 404 when it is gone
   */
  delete?(scope: Scope, key: ObjectKey, options: DeleteOptions): Awaitable<T | Encoded | Status | undefined>;
  /**
   * Removes the objects that the scope selects, for storages whose upstream can do so at once. Not called where there is an
   * `admit`, which must see each object.
   * @returns the removed objects
   * @default the framework deletes the listed objects one by one
   */
  deleteCollection?(scope: Scope, options: DeleteCollectionOptions): Awaitable<ListResult<T> | Status>;
  /**
   * Takes patches unread, apply included: for storages whose upstream patches by itself. Needs `get` or `cache`: an apply of
   * a missing object must be allowed as a create.
   * @default derived from `get` and `update`, with retries
   */
  patch?(scope: Scope, key: ObjectKey, options: PatchOptions): Awaitable<Written<T>>;
  /**
   * Whether applies are accepted; false: 415. For an upstream that computes field ownership but would not know that an update
   * derived here was an apply: the fields would change owners.
   * @default true
   */
  readonly applies?: boolean;
  /**
   * Side that manages the life of an object: uid, generation, timestamps, finalizers, field ownership. `storage`: the
   * upstream (another API server, a view of one). The storage then also gets dry runs, and every delete with all its options.
   * @default "framework"
   */
  readonly lifecycle?: "framework" | "storage";
  /**
   * Whether a garbage collector handles dependents after foreground and orphan deletes: only then does the framework set the
   * finalizers for them.
   * @default false, dependents stay
   */
  readonly garbageCollected?: boolean;
  /** Other served versions of the kind, so that field ownership covers them. @default none */
  readonly versions?: KindVersions;
  /** Storage version, if it is another one: discovery advertises it. @default the served version */
  readonly storedAs?: ResourceDefinition;
  /**
   * Whether the storage itself sets an annotation: values that clients send are dropped, and the annotation has no owner.
   * @default none is
   */
  ownAnnotations?(key: string): boolean;
  /**
   * Whether an object with another resource version than the current one is current nevertheless, because that version was
   * issued elsewhere.
   * @default never: the client gets a conflict
   */
  isCurrent?(scope: Scope, sent: ObjectMeta, now: ObjectMeta): boolean;
}

/** Whether a list is encoded. */
export function isEncodedList(list: ListResult): list is EncodedList {
  return "body" in list;
}

/**
 * One event of a source. Versions must increase from change to change; the first is above the one that
 * {@link Storage.changes} starts after.
 */
export type Change<T extends KubeObject = KubeObject> =
  | { readonly type: "set"; readonly object: T | Encoded }
  | { readonly type: "delete"; readonly key: ObjectKey; readonly resourceVersion: string }
  /** All changes up to this version have been sent. Becomes bookmarks; Kubernetes calls it progress notify. */
  | { readonly type: "progress"; readonly resourceVersion: string }
  /** The source cannot resume: the framework lists again and open watches end with 410. */
  | { readonly type: "expired"; readonly message?: string };

/** Options of a stream. */
export interface ChangesOptions {
  /** Aborts when the stream has no listener left. The iterator must then end. */
  readonly signal: AbortSignal;
}

/** Part of the past changes. */
export interface PastChanges {
  /** Oldest first, whole versions, each change with the previous object. */
  readonly events: readonly CacheEvent[];
  /** Version up to which the events are complete: above the requested one, or the one the cache holds. */
  readonly version: string;
}

/** History of a storage from before its watch cache: a store on disk has more room for it. */
export interface Past {
  /**
   * Returns changes after a version, as many as fit into one batch. Many watches resume at the same version after a restart:
   * they may share a result.
   * @throws ApiError 410 when the version is too old here, too
   */
  changes(after: string, options: ChangesOptions): Promise<PastChanges>;
  /**
   * Streams the objects of a logical cluster and namespace ("" for all of either) at a version, after the key `after`, in
   * cache order.
   * @throws ApiError 410
   * @default such a list is 410
   */
  objects?(version: string, range: PastRange, options: ChangesOptions): AsyncIterable<Encoded>;
  /**
   * Whether {@link changes} may wait for long, for another server for example: the request does not count as under way
   * meanwhile.
   * @default false
   */
  readonly waits?: boolean;
}

/** A range of past objects. */
export interface PastRange extends Omit<ObjectKey, "name"> {
  /** Full key in cache order to start after; "" for the first object. */
  readonly after: string;
  /** Number of objects after which the reader very likely stops. @default it reads all */
  readonly atOnce?: number;
}

/** A share in a watch cache. The holder releases it exactly once. */
export interface CacheLease extends Disposable {
  readonly cache: ReadableCache;
  /** History beyond the cache. @default none */
  readonly past?: Past;
  /**
   * Resolves when the cache is no staler than its source was at the time of the call. `warn` names one of several sources
   * that is unreachable; the others are read all the same.
   */
  readonly confirm: (
    request: Pick<RequestOptions, "signal"> & Partial<Pick<RequestOptions, "warn">>,
  ) => Awaitable<void>;
  /**
   * Called before a missing object is answered 404.
   * @throws ApiError 503 when absence is unknown, as one of several sources has never been reached.
   * @default absence is known
   */
  readonly checkAbsent?: () => void;
}

/** Options of a create or update (Kubernetes' `CreateOptions`, `UpdateOptions`). */
export interface WriteOptions extends RequestOptions {
  /** Whether to do everything but store the result. True only for a storage with its own {@link Storage.lifecycle}. */
  readonly dryRun: boolean;
  /** Field manager that owns the fields this write sets. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /**
   * Subresource, when the write is limited to it: `status`, or another one that writes the status alone; `scale` only where a Scale is forwarded unread. A storage that forwards
   * writes sends it upstream; one that stores objects may ignore it, since it gets whole objects.
   * @default the object itself
   */
  readonly subresource?: string;
  /**
   * Called with an object before it is stored, dry runs included; `undefined` when the storage would not show it. Throws to
   * reject the write. Views set it; a storage with its own {@link Storage.lifecycle} calls it.
   */
  readonly accept?: (object: KubeObject | undefined) => void;
}

/** A create or update, as the client sent it. */
export interface SentWrite extends WriteOptions {
  readonly verb: "create" | "update";
  /** Key of the object. A create may have no name here: it is in the body, or still to be generated. */
  readonly key: ObjectKey;
  /** Media type that the client sent: `application/json`, `application/yaml`, or another one. */
  readonly contentType: string;
  /** Request body as received; protobuf is converted to JSON. */
  readonly body: Buffer;
}

/** A patch, as the client sent it (Kubernetes' `PatchOptions`). */
export interface PatchOptions extends WriteOptions {
  /** Kind of patch: `application/json-patch+json`, `application/apply-patch+yaml`, … */
  readonly contentType: string;
  /** Request body as received. */
  readonly patch: Buffer;
  /** Whether an apply takes fields from other managers. */
  readonly force: boolean;
}

/**
 * Options of a delete (Kubernetes' `DeleteOptions`). A storage with its own {@link Storage.lifecycle} gets them as the client
 * sent them, every other only `preconditions.resourceVersion`: the version that the framework has read.
 */
export interface DeleteOptions extends RequestOptions {
  /** Same as {@link WriteOptions.dryRun}. */
  readonly dryRun: boolean;
  /** Time the object gets for its termination, s. @default the kind's value */
  readonly gracePeriodSeconds?: number;
  /** Policy for the object's dependents. @default the storage decides */
  readonly propagationPolicy?: PropagationPolicy;
  /** Older form of {@link propagationPolicy}. */
  readonly orphanDependents?: boolean;
  /** Preconditions of the delete: 409 if the object does not meet them. */
  readonly preconditions?: Preconditions;
}

/** Options of a deletecollection, and the page that it applies to. */
export interface DeleteCollectionOptions extends DeleteOptions, ListRequest {}

/** Result of a write. */
export interface Written<T extends KubeObject = KubeObject> {
  readonly object: T | Encoded;
  /** Whether the write created the object: answered 201. */
  readonly created?: boolean;
}

/** Whether a delete returned a Status rather than an object. */
export function isStatus(answer: object): answer is Status {
  const { kind, apiVersion } = answer as Partial<Status>;
  return kind === "Status" && apiVersion === "v1" && !("bytes" in answer);
}
