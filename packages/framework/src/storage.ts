import type { IncomingHttpHeaders } from "node:http";
import type { KubeObject, ObjectKey, ObjectMeta, Status } from "@virtual-workspaces/apimachinery";
import type { FieldValidation, Preconditions, PropagationPolicy } from "@virtual-workspaces/apimachinery/requests";
import type { FieldSelector, LabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import type { KindVersions, ResourceDefinition } from "./definition.ts";
import type { Identity, User } from "./request/user.ts";
import type { Awaitable } from "./util/awaitable.ts";
import type { CacheEvent, ReadableCache } from "./watch/cache/cache-event.ts";
import type { Encoded } from "./watch/cache/encoded.ts";

/**
 * All that a stream may know and keep after the request that opened it is gone. What belongs to one
 * request only (its signal, its id) comes beside it in {@link RequestOptions}, never in here: a
 * stream opened for one caller may be shared with others whose {@link Storage.shareKey} is equal.
 */
export interface Scope {
  /** The path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The logical cluster, `*` for all of them, "" where the path has none. */
  readonly cluster: string;
  /** The namespace, "" for all of them and for cluster-scoped kinds. */
  readonly namespace: string;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  /** On whose behalf the source is asked. */
  readonly identity: Identity;
  /**
   * Through how many API servers the request has come that passed it on (kcp's `X-Kcp-Virtual-Resource-Hops`). A storage
   * that passes it on says one more. @default 0
   */
  readonly hops?: number;
  /** The names of those servers, and of this view, as the `Via` header that a storage passes on. @default none */
  readonly via?: string;
}

/** What belongs to one request. */
export interface RequestOptions {
  readonly user: User;
  /** Aborts when the client leaves, the deadline passes, or the server has no more patience with draining. */
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** Adds a `Warning` header (code 299) to the answer; kubectl prints it. */
  readonly warn: (text: string) => void;
  /** The `Accept-Encoding` of the request: a storage that passes on what another server says can ask that one for the same. */
  readonly acceptEncoding?: string | undefined;
  /** Of the request, by lower-case names, for what is asked by a header of one's own. @default none, where there is no request */
  readonly headers?: IncomingHttpHeaders;
}

/** What a client asks of one object besides which it is. */
export interface GetOptions extends RequestOptions {
  /** The object is to be no older than this; `0`: as old as it may be. @default as it is now */
  readonly resourceVersion?: string;
}

/** What a client asks of a list besides what is in it: a page, a version (Kubernetes' `ListOptions`). */
export interface ListRequest extends RequestOptions {
  /** The most items there may be in this page. @default all */
  readonly limit?: number;
  /** What the page before gave as {@link ItemList.continue}. */
  readonly continue?: string;
  /** As {@link GetOptions.resourceVersion}, or as {@link resourceVersionMatch} says. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
}

/**
 * A list as items, parsed or encoded (mixed if need be). Over all logical clusters, parsed items name theirs in the
 * annotation `kcp.io/cluster`.
 */
export interface ItemList<T extends KubeObject = KubeObject> {
  readonly items: Iterable<T | Encoded>;
  /** The version at which the items were true together. A storage with {@link Storage.changes} must give one. */
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** A list as the bytes of its whole body, passed through unread. Only from a storage that {@link Storage.appliesSelectors}. */
export interface EncodedList {
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /** @default "application/json" */
  readonly contentType?: string;
  /** `Content-Encoding` of `body`, `gzip` for one. @default none */
  readonly contentEncoding?: string;
  /** Bytes of `body`, where that is known before it has come: clients are told. @default not known, but of a `Uint8Array` */
  readonly length?: number;
}

/** What a list answers. */
export type ListResult<T extends KubeObject = KubeObject> = ItemList<T> | EncodedList;

/**
 * Where objects come from. The methods that are there are the verbs that discovery advertises; the
 * framework builds the rest (Table, watch, pagination, selectors, errors). All are asked only after
 * authorization. A thrown `ApiError` is answered as it stands, anything else as 500 without its text.
 */
export interface Storage<T extends KubeObject = KubeObject> {
  /** `undefined` is answered 404. */
  get?(scope: Scope, key: ObjectKey, options: GetOptions): Awaitable<T | Encoded | undefined>;
  /** Without {@link appliesSelectors} the framework filters what comes back by namespace and selectors itself. */
  list?(scope: Scope, options: ListRequest): Awaitable<ListResult<T>>;
  /**
   * What happened after a version that `list` gave. With `list` this makes watch. Ending the iterator
   * is no event: the hub asks again from where it was. Throwing is a failing source: the hub retries
   * with backoff, open watches stay. A thrown `ApiError` with code 410 is the same as `expired`.
   */
  changes?(scope: Scope, after: string, options: ChangesOptions): AsyncIterable<Change<T>>;
  /** The source's version now, cheaper than a list. @default a list with limit 1 */
  head?(scope: Scope, options: ChangesOptions): Awaitable<string>;
  /**
   * Who may share one stream: callers with equal keys. Everything that decides what the source
   * answers must be in the key; what is left out of it leaks from one caller to another.
   * `undefined`: only requests of one and the same identity share. @default undefined
   */
  shareKey?(scope: Scope): string | undefined;
  /**
   * True: namespace and selectors are applied by the storage, streams are shared among equal ones only. It is then asked
   * for each get and list, even if it has a {@link cache}, which watches read. @default false
   */
  readonly appliesSelectors?: boolean;
  /**
   * Whether its versions, or its objects, are those of this process and mean nothing to another: of a collection, of a view.
   * Where several processes serve the same virtual workspace, one of them then answers for it: `CoreOptions.peers`.
   * @default false, any process can answer
   */
  readonly local?: boolean;
  /** A storage that keeps its own history (a collection, a view) hands it over; `changes` is then never asked. */
  cache?(scope: Scope): Awaitable<CacheLease>;

  /**
   * Keeps a new object. The framework has checked it and filled in its metadata, all but the resource version, which is
   * the storage's. @returns the object as it was kept. @throws ApiError 409 `AlreadyExists`
   */
  create?(scope: Scope, object: T, options: WriteOptions): Awaitable<T | Encoded>;
  /**
   * Replaces an object whole, if it still stands at `object.metadata.resourceVersion`. @returns it as it was kept.
   * @throws ApiError 409 `Conflict` when it has changed, 404 when it is gone; the framework then tries again, unless the
   *   client insists on the version
   */
  update?(scope: Scope, object: T, options: WriteOptions): Awaitable<T | Encoded>;
  /**
   * Takes creates and updates as they came, unread, so that whoever is behind the storage has the whole say in them; `patch`,
   * `delete` and `deleteCollection` then as well. Asked instead of `create` and `update` for what a client sends, unless
   * there is an `admit`, which wants objects. An update that may create asks for create's permission first.
   * @default the framework reads what came and asks `create` or `update`
   */
  pass?(scope: Scope, write: SentWrite): Awaitable<Written<T>>;
  /**
   * Removes an object, if it still stands at `preconditions.resourceVersion`. Asked when nothing holds it any more:
   * finalizers and grace periods are the framework's, which marks the object by `update` first.
   *
   * @returns the object as it is now that something still holds it, else nothing, or the Status that says so
   * @throws ApiError 409 `Conflict` when it has changed, 404 when it is gone
   */
  delete?(scope: Scope, key: ObjectKey, options: DeleteOptions): Awaitable<T | Encoded | Status | undefined>;
  /**
   * Removes what the scope selects, for storages with a server behind them that can do so at once. Not asked where there
   * is an `admit`, which wants to see each object. @returns what was removed
   * @default what the list shows is deleted one by one
   */
  deleteCollection?(scope: Scope, options: DeleteCollectionOptions): Awaitable<ListResult<T> | Status>;
  /**
   * Takes patches as they came, apply included: for storages with a server behind them that patches by itself. Needs `get`
   * or `cache`: an apply of what is not there must be allowed as a create.
   * @default derived from `get` and `update`, with retries
   */
  patch?(scope: Scope, key: ObjectKey, options: PatchOptions): Awaitable<Written<T>>;
  /**
   * False: applies are refused with 415. For a storage whose server tells owners of fields, but would not hear from an
   * update derived here that it was an apply: the fields would change hands. @default true
   */
  readonly applies?: boolean;
  /**
   * Who sees to an object's life: uid, generation, timestamps, finalizers, owners of fields. `storage`: whatever is
   * behind it does (another API server, a view of one). It is then asked for dry runs too, and its `delete` for every
   * delete, with all that the client said. @default "framework"
   */
  readonly lifecycle?: "framework" | "storage";
  /**
   * Whether somebody collects what is left behind by deletes in the foreground or with orphans: only then are the
   * finalizers set that ask for it. @default false, dependents are left alone
   */
  readonly garbageCollected?: boolean;
  /** The versions that the kind is served in besides, so that owners of fields are told across them. @default only one */
  readonly versions?: KindVersions;
  /** The version that objects are kept in, where that is another one: discovery tells of it. @default the one served */
  readonly storedAs?: ResourceDefinition;
  /**
   * Whether an annotation is one that the storage itself sets: what clients send of it is dropped, and nobody owns it.
   * @default none is
   */
  ownAnnotations?(key: string): boolean;
  /**
   * Whether a client that sends an object with another resource version than it has now has nevertheless seen it as it is
   * now, because that version was given elsewhere. @default never: the client is told that the object was modified
   */
  isCurrent?(scope: Scope, sent: ObjectMeta, now: ObjectMeta): boolean;
}

/** Whether a list came as bytes. */
export function isEncodedList(list: ListResult): list is EncodedList {
  return "body" in list;
}

/**
 * One step of a source. Versions must increase from change to change; the first is above the one
 * that {@link Storage.changes} was asked to start after.
 */
export type Change<T extends KubeObject = KubeObject> =
  | { readonly type: "set"; readonly object: T | Encoded }
  | { readonly type: "delete"; readonly key: ObjectKey; readonly resourceVersion: string }
  /** Everything up to this version has been told. Becomes bookmarks; Kubernetes calls it progress notify. */
  | { readonly type: "progress"; readonly resourceVersion: string }
  /** The source cannot tell what happened: the hub lists again and open watches end with 410. */
  | { readonly type: "expired"; readonly message?: string };

/** What a stream is opened with. */
export interface ChangesOptions {
  /** Aborts when nobody listens any more. The iterator must then end. */
  readonly signal: AbortSignal;
}

/** Some of what happened in the past. */
export interface PastChanges {
  /** Oldest first, whole versions, each change with what was there before. */
  readonly events: readonly CacheEvent[];
  /** Up to here everything has been told: above what was asked for, or what the cache holds. */
  readonly version: string;
}

/** What a storage remembers of the time before its watch cache does: a store on disk has more room for it. */
export interface Past {
  /**
   * What happened after a version, as much as is well told at once. Many ask the same when a server has been started anew:
   * they may be given the same. @throws ApiError 410 when that is not known any more either
   */
  changes(after: string, options: ChangesOptions): Promise<PastChanges>;
  /**
   * The objects of a logical cluster and namespace ("" for all of either) as they were at a version, behind the key
   * `after`, in the order of a cache. @throws ApiError 410 @default they are not known any more
   */
  objects?(version: string, range: PastRange, options: ChangesOptions): AsyncIterable<Encoded>;
  /** Whether {@link changes} may wait for long, as for another server: no request is counted as under way meanwhile. @default false */
  readonly waits?: boolean;
}

/** Which objects of the past are wanted. */
export interface PastRange extends Omit<ObjectKey, "name"> {
  /** A whole key as a cache orders by, "" to begin with the first. */
  readonly after: string;
  /** After how many the reader very likely stops. @default it reads all */
  readonly atOnce?: number;
}

/** A share in a watch cache. Whoever holds one releases it exactly once. */
export interface CacheLease extends Disposable {
  readonly cache: ReadableCache;
  /** @default nothing is remembered but what the cache does */
  readonly past?: Past;
  /**
   * Resolves when the cache is no staler than its source was when this was called. One of several sources that cannot be
   * reached is named by `warn`, and does not keep the others from being read.
   */
  readonly confirm: (
    request: Pick<RequestOptions, "signal"> & Partial<Pick<RequestOptions, "warn">>,
  ) => Awaitable<void>;
  /**
   * Called before an object that is not there is answered 404. @throws ApiError 503 when nobody knows, as one of several
   * sources has never been reached. @default it is known
   */
  readonly checkAbsent?: () => void;
}

/** What a create or an update is to do, and on whose behalf (Kubernetes' `CreateOptions`, `UpdateOptions`). */
export interface WriteOptions extends RequestOptions {
  /** True only for a storage with a {@link Storage.lifecycle} of its own: do everything but keep the result. */
  readonly dryRun: boolean;
  /** Who the fields belong to that this write sets. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /**
   * Set when only this part of the object is written; `scale` only where a Scale is handed over as it came. A storage that passes writes on says so to whoever is behind it; one
   * that keeps objects need not look, since it is given them whole. @default the object itself
   */
  readonly subresource?: "status" | "scale";
  /**
   * Asked of an object as it would be kept, before it is, dry runs included; `undefined` when the storage that is asked to
   * write would not show it. Throws to refuse. Views set it; a storage with a {@link Storage.lifecycle} of its own asks.
   */
  readonly accept?: (object: KubeObject | undefined) => void;
}

/** A create or an update, as the client sent it. */
export interface SentWrite extends WriteOptions {
  readonly verb: "create" | "update";
  /** Of a create without a name: that is in the body, or still to be made. */
  readonly key: ObjectKey;
  /** `application/json`, `application/yaml`, or whatever else the client said. */
  readonly contentType: string;
  /** As it came; what comes as protobuf, as JSON. */
  readonly body: Buffer;
}

/** What a patch is, as the client sent it (Kubernetes' `PatchOptions`). */
export interface PatchOptions extends WriteOptions {
  /** The kind of patch: `application/json-patch+json`, `application/apply-patch+yaml`, … */
  readonly contentType: string;
  /** As it came. */
  readonly patch: Buffer;
  /** Of an apply: take fields away from other managers. */
  readonly force: boolean;
}

/** What a delete is to do, as the client said (Kubernetes' `DeleteOptions`). */
export interface DeleteOptions extends RequestOptions {
  /** As {@link WriteOptions.dryRun}. */
  readonly dryRun: boolean;
  /** How long the object may take to end by itself, s. @default what its kind says */
  readonly gracePeriodSeconds?: number;
  /** What becomes of its dependents. @default the storage's to say */
  readonly propagationPolicy?: PropagationPolicy;
  /** The older form of {@link propagationPolicy}. */
  readonly orphanDependents?: boolean;
  /** What the object must still be: 409 if it is not. */
  readonly preconditions?: Preconditions;
}

/** What a delete of many is to do, and of which page of them. */
export interface DeleteCollectionOptions extends DeleteOptions, ListRequest {}

/** What a write left behind. */
export interface Written<T extends KubeObject = KubeObject> {
  readonly object: T | Encoded;
  /** True: answered 201. */
  readonly created?: boolean;
}

/** Whether a delete was answered by a Status rather than by an object. */
export function isStatus(answer: object): answer is Status {
  const { kind, apiVersion } = answer as Partial<Status>;
  return kind === "Status" && apiVersion === "v1" && !("bytes" in answer);
}
