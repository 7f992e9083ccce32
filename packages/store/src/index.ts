export { type BackupOptions, backup } from "./backup/backup.ts";
export type { BackupInfo } from "./backup/header.ts";
export { checkRestored, type RestoreOptions, readBackup, restore, revisionAfter } from "./backup/restore.ts";
export type { EtcdOptions, EtcdTls } from "./etcd/options.ts";
export { etcdStore } from "./etcd/store.ts";
export { type KeepHistoryOptions, keepHistory } from "./history/keep-history.ts";
export { type MemoryStoreOptions, memoryStore } from "./memory/memory-store.ts";
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
