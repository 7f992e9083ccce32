/**
 * Stores for the objects of collections: in memory, on disk, or in etcd.
 *
 * @module
 */
export { etcdStore } from "./etcd/open-etcd.ts";
export type { EtcdOptions, EtcdTls } from "./etcd/options.ts";
export { type LmdbStoreOptions, lmdbStore } from "./lmdb/open-lmdb.ts";
export { type BackupOptions, backup } from "./maintenance/backup.ts";
export type { BackupInfo } from "./maintenance/backup-file.ts";
export { type KeepHistoryOptions, keepHistory } from "./maintenance/keep-history.ts";
export { checkRestored, type RestoreOptions, readBackup, restore, revisionAfter } from "./maintenance/restore.ts";
export { type MemoryStoreOptions, memoryStore } from "./memory/memory-store.ts";
export { keySpaces, parseStoredKey, removeKeySpace } from "./registry/keys.ts";
export { MetadataCollection, type MetadataOptions } from "./registry/metadata-collection.ts";
export {
  ObjectFeed,
  type ObjectFeedHandlers,
  type ObjectFeedOptions,
  type StoredObject,
  type StoredPlace,
} from "./registry/object-feed.ts";
export {
  type ClusterCount,
  type ClusterObjects,
  type ObjectChange,
  PersistentCollection,
  type PersistentOptions,
  persistent,
} from "./registry/persistent.ts";
export type { RecentHistory } from "./registry/reflector.ts";
export type {
  Batch,
  Condition,
  Entry,
  Host,
  KeyRange,
  Lease,
  Operation,
  Outcome,
  RangeOptions,
  RangeResult,
  Store,
  StoreEvent,
  Transaction,
  Watch,
  WatchOptions,
} from "./store.ts";
export { isStoreError, StoreError, type StoreErrorCode } from "./store-error.ts";
