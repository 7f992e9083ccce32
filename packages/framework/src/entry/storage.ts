/**
 * Custom storages: the interface, encoded objects, the watch cache and feeds.
 *
 * @module
 */

export { type BytesContext, EncodedBytes } from "../encode/encoded-bytes.ts";
export { TYPED_ITEMS } from "../encode/item-types.ts";
export { type ListParts, ListSplitter, type SplitterLimits } from "../encode/list-splitter.ts";
export type { ObjectBackend, Swapped, SwapTerms } from "../resource/collection/cache-backend.ts";
export type { Answer, CollectionPart, SetValue, Timing } from "../resource/collection/collection-part.ts";
export { MemoryPart } from "../resource/collection/memory-part.ts";
export type { ObjectDetails } from "../resource/collection/object-details.ts";
export { Registry, type RegistryOptions } from "../resource/collection/registry.ts";
export type {
  AuditAnnotations,
  CacheLease,
  Change,
  ChangesOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  EncodedList,
  GetOptions,
  ItemList,
  ListRequest,
  ListResult,
  Past,
  PastChanges,
  PastRange,
  PatchOptions,
  RequestOptions,
  Scope,
  SentWrite,
  Storage,
  WriteOptions,
  Written,
} from "../storage.ts";
export type { Awaitable } from "../util/awaitable.ts";
export {
  CacheEvent,
  type CacheListener,
  type EventDetails,
  type EventType,
  type Objects,
  type Position,
  type ReadableCache,
  type Snapshot,
} from "../watch/cache/cache-event.ts";
export { decodeObject, type Encoded, encodeObject, type Routing, routingOf } from "../watch/cache/encoded.ts";
export { Minter, processMinter } from "../watch/cache/minter.ts";
export { type CacheOptions, type HistoryOptions, WatchCache } from "../watch/cache/watch-cache.ts";
export { SourceFeeds, type SourceFeedsOptions } from "../watch/feeds.ts";
export type { FeedSource, Versions } from "../watch/source.ts";
