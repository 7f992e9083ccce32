import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { everything } from "../engine/pages.ts";
import type { Lease, Operation, Store } from "../store.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import {
  type BackupHeader,
  type BackupInfo,
  type BackupRecord,
  damaged,
  decodeHeader,
  decodeRecords,
  HEADER_BYTES,
  headerText,
  reading,
} from "./backup-file.ts";

/** Key that marks a store during a restore. */
const MARK = "~restoring";

/** Limits of a transaction; the rest of etcd's limit is for keys. */
const [MOST_OPERATIONS, MOST_BYTES] = [128, 1024 * 1024];

/** More revisions than a store uses between its last backup and its loss: etcd's advice for `--bump-revision`. */
const HEADROOM = 1_000_000_000;
/** Number of bytes to read at once. */
const CHUNK = 1024 * 1024;

/** Options of {@link restore}. */
export interface RestoreOptions {
  /** Cancels the restore. The store must then be removed. */
  readonly signal?: AbortSignal;
  /** Called with the number of restored keys after each transaction. */
  readonly onProgress?: (keys: number) => void;
}

/**
 * Reads and verifies a whole backup, and returns its metadata.
 *
 * @throws StoreError `Damaged` if it was modified, `NewerFormat`, `Invalid` if it is unreadable
 */
export async function readBackup(file: string): Promise<BackupInfo> {
  await using reader = await BackupReader.open(file);
  await reader.verify();
  return reader.info;
}

/**
 * Returns the first revision of a new store (`memoryStore({ revision })`, `lmdbStore({ revision })`) for a restore: a
 * thousand million above the backup's, so that no revision is used twice. Clients of the lost store then get 410 and list
 * again instead of missing changes.
 */
export function revisionAfter(backup: BackupInfo): number {
  return backup.revision + HEADROOM;
}

/**
 * Restores a backup into a new, empty store. It verifies the whole backup before it writes. It needs a few MiB of memory, and
 * as much as the largest value.
 *
 * All keys get new revisions, and earlier ones count as compacted. Leases get the remaining time that they had at the backup,
 * at least a second. After a failure or crash the store holds a part of the backup ({@link checkRestored}): remove it and
 * start again.
 *
 * An etcd is restored from its own snapshots (`etcdutl snapshot restore --bump-revision 1000000000 --mark-compacted`).
 *
 * @throws StoreError `Damaged`, `NewerFormat` or `Invalid` for the file, `Invalid` if the store is not empty or its revision
 * is below {@link revisionAfter}, and errors of the store
 */
export async function restore(file: string, store: Store, options: RestoreOptions = {}): Promise<BackupInfo> {
  await using reader = await BackupReader.open(file);
  await reader.verify();
  await checkNew(store, reader.info);
  try {
    await fill(store, reader.records(), options);
  } catch (error) {
    if (!isStoreError(error)) throw error;
    const message = `${error.message}. ${store.name} holds a part of the backup: remove it and restore again`;
    throw new StoreError(error.code, message, { cause: error });
  }
  return reader.info;
}

/** Checks that no restore into this store was interrupted. @throws StoreError `Damaged` if one was */
export async function checkRestored(store: Store): Promise<void> {
  if ((await store.get(MARK)) === undefined) return;
  throw new StoreError(
    "Damaged",
    `${store.name} holds a part of a backup, because a restore was interrupted: remove it and restore again`,
  );
}

async function checkNew(store: Store, info: BackupInfo): Promise<void> {
  await checkRestored(store);
  const { entries, revision } = await store.range(everything, { limit: 1 });
  if (entries.length > 0)
    throw new StoreError("Invalid", `${store.name} is not empty: restore the backup into a new store`);
  const least = revisionAfter(info);
  if (revision < least)
    throw new StoreError(
      "Invalid",
      `${store.name} is at revision ${revision}, but must be at ${least} for clients to notice lost changes: ` +
        `open the new store with { revision: ${least} }. An etcd is restored from its own snapshots, with ` +
        "`etcdutl snapshot restore --bump-revision 1000000000 --mark-compacted`",
    );
}

async function fill(
  store: Store,
  records: AsyncIterable<BackupRecord>,
  { signal, onProgress }: RestoreOptions,
): Promise<void> {
  const leases = new RestoredLeases(store);
  await commit(store, [{ type: "put", key: MARK, value: Buffer.alloc(0) }]);
  let operations: Put[] = [];
  let bytes = 0;
  let count = 0;
  const flush = async (): Promise<void> => {
    signal?.throwIfAborted();
    if (operations.length > 0)
      await leases.using(async () => commit(store, await Promise.all(operations.map((each) => put(each, leases)))));
    count += operations.length;
    onProgress?.(count);
    operations = [];
    bytes = 0;
  };
  for await (const record of records) {
    if (record.type === "lease") leases.add(record.lease, record.remaining);
    else {
      const size = Buffer.byteLength(record.key) + record.value.length;
      if (operations.length === MOST_OPERATIONS || bytes + size > MOST_BYTES) await flush();
      operations.push(record);
      bytes += size;
    }
  }
  await flush();
  await store.commit({ conditions: [], operations: [{ type: "delete", key: MARK }] });
  await store.compact(await store.head());
}

type Put = BackupRecord & { readonly type: "entry" };

async function put({ key, value, lease }: Put, leases: RestoredLeases): Promise<Operation> {
  return { type: "put", key, value, ...(lease !== undefined && { lease: await leases.get(lease) }) };
}

async function commit(store: Store, operations: readonly Operation[]): Promise<void> {
  const conditions = operations.map(({ key }) => ({ key, modRevision: 0 }));
  const { committed } = await store.commit({ conditions, operations });
  if (!committed)
    throw new StoreError("Invalid", `another process writes to ${store.name}: stop it during the restore`);
}

/** Open file of a backup, so that the verified file is the one that is read. */
class BackupReader implements AsyncDisposable {
  readonly #file: string;
  readonly #handle: FileHandle;
  readonly #header: BackupHeader;

  private constructor(file: string, opened: { readonly handle: FileHandle; readonly header: BackupHeader }) {
    this.#file = file;
    this.#handle = opened.handle;
    this.#header = opened.header;
  }

  /** @throws StoreError `Invalid` if it is unreadable, `Damaged`, `NewerFormat` */
  static async open(file: string): Promise<BackupReader> {
    const handle = await reading(file, () => open(file, "r"));
    try {
      const block = Buffer.alloc(HEADER_BYTES);
      const { bytesRead } = await reading(file, () => handle.read(block, 0, HEADER_BYTES, 0));
      return new BackupReader(file, { handle, header: decodeHeader(block.subarray(0, bytesRead), file) });
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get info(): BackupInfo {
    const { sha256: _, ...info } = this.#header;
    return info;
  }

  /** Reads the whole file. @throws StoreError `Damaged` if it was modified */
  async verify(): Promise<void> {
    const { size } = await this.#handle.stat();
    const whole = HEADER_BYTES + this.#header.bytes;
    if (size !== whole) throw damaged(this.#file, `it has ${size} of ${whole} bytes`);
    const hash = createHash("sha256");
    for await (const chunk of this.#chunks()) hash.update(chunk);
    if (hash.update(headerText(this.#header)).digest("hex") !== this.#header.sha256)
      throw damaged(this.#file, "its checksum is wrong");
    let count = 0;
    try {
      for await (const { type } of this.records()) count += type === "entry" ? 1 : 0;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw damaged(this.#file, error.message);
    }
    if (count !== this.#header.count) throw damaged(this.#file, `it has ${count} of ${this.#header.count} keys`);
  }

  records(): AsyncIterable<BackupRecord> {
    return decodeRecords(this.#chunks());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  /** Reads the bytes of the records. */
  async *#chunks(): AsyncGenerator<Buffer, void, undefined> {
    for (let position = HEADER_BYTES; ; ) {
      const { bytesRead, buffer } = await this.#handle.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, position);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      position += bytesRead;
    }
  }
}

/** Leases of a backup, granted when the first of their keys is written. */
class RestoredLeases {
  readonly #store: Store;
  /** Remaining times by number, in seconds. */
  readonly #remaining = new Map<number, number>();
  readonly #granted = new Map<number, Promise<Lease>>();

  constructor(store: Store) {
    this.#store = store;
  }

  add(number: number, remaining: number): void {
    this.#remaining.set(number, remaining);
  }

  /** Returns a lease, and grants it first if necessary. */
  get(number: number): Promise<Lease> {
    const known = this.#granted.get(number);
    if (known !== undefined) return known;
    const lease = this.#store.grant(Math.max(1, this.#remaining.get(number) ?? 0));
    this.#granted.set(number, lease);
    return lease;
  }

  /** Runs an action, and grants leases again that expired meanwhile, for their remaining keys. */
  async using(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (!isOver(error)) throw error;
      await this.#forgetOver();
      await action();
    }
  }

  async #forgetOver(): Promise<void> {
    for (const [number, lease] of this.#granted)
      try {
        await this.#store.renew(await lease);
      } catch (error) {
        if (!isOver(error)) throw error;
        this.#granted.delete(number);
      }
  }
}

const isOver = (error: unknown): boolean => isStoreError(error) && error.code === "LeaseNotFound";
