export { type BackupOptions, backup } from "./backup/backup.ts";
export type { BackupInfo } from "./backup/header.ts";
export { checkRestored, type RestoreOptions, readBackup, restore, revisionAfter } from "./backup/restore.ts";
export { etcdStore } from "./etcd/open.ts";
export type { EtcdOptions, EtcdTls } from "./etcd/options.ts";
export { type KeepHistoryOptions, keepHistory } from "./history/keep-history.ts";
export type { Host } from "./host.ts";
export { type LmdbStoreOptions, lmdbStore } from "./lmdb/open.ts";
export { type MemoryStoreOptions, memoryStore } from "./memory/memory-store.ts";
export type { RecentHistory } from "./registry/follower.ts";
export { keySpaces, removeKeySpace } from "./registry/key-spaces.ts";
export { MetadataCollection, type MetadataOptions } from "./registry/metadata-collection.ts";
export {
  ObjectFeed,
  type ObjectFeedHandlers,
  type ObjectFeedOptions,
  type StoredObject,
  type StoredPlace,
} from "./registry/object-feed.ts";
export {
  type ClusterObjects,
  type ObjectChange,
  PersistentCollection,
  type PersistentOptions,
  persistent,
} from "./registry/persistent.ts";
export type {
  Batch,
  Condition,
  Entry,
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
