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

/** Stands in a store while it is being restored. */
const MARK = "~restoring";

/** Of a transaction; the rest of an etcd's limit is for its keys. */
const [MOST_OPERATIONS, MOST_BYTES] = [128, 1024 * 1024];

/** More revisions than a store gives out between its last backup and its loss: etcd's advice for `--bump-revision`. */
const HEADROOM = 1_000_000_000;
/** Read at once, bytes. */
const CHUNK = 1024 * 1024;

/** How a backup is restored. */
export interface RestoreOptions {
  /** Gives it up; the store must then be removed. */
  readonly signal?: AbortSignal;
}

/**
 * Reads all of a backup and says what it is.
 *
 * @throws StoreError `Damaged` unless it is what was written, `NewerFormat`, `Invalid` when it cannot be opened
 */
export async function readBackup(file: string): Promise<BackupInfo> {
  await using reader = await BackupReader.open(file);
  await reader.verify();
  return reader.info;
}

/**
 * The revision that a new store must begin at (`memoryStore({ revision })`, `lmdbStore({ revision })`) for a backup to
 * be restored into it: a thousand million above the backup's, so that none is given out twice. Clients that knew the
 * lost store then read that they must begin anew (410) instead of missing changes.
 */
export function revisionAfter(backup: BackupInfo): number {
  return backup.revision + HEADROOM;
}

/**
 * Puts everything in a backup into a store that is new and empty. The whole backup is verified before anything is
 * written. Takes a few MiB of memory, and as much as the largest value.
 *
 * All keys get new revisions, and all before them count as compacted. Keys with a lease live for what was left of its
 * time when the backup was made, at least a second. When it fails after it began, or the process dies, the store holds
 * a part of the backup ({@link checkRestored}): remove it and begin again.
 *
 * An etcd is restored from its own snapshots (`etcdutl snapshot restore --bump-revision 1000000000 --mark-compacted`).
 *
 * @throws StoreError `Damaged`, `NewerFormat`, `Invalid` of the file, `Invalid` when the store is not empty or its
 * revision is below {@link revisionAfter}, and those of the store
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

/** @throws StoreError `Damaged` when a store holds only a part of a backup, because restoring it was broken off */
export async function checkRestored(store: Store): Promise<void> {
  if ((await store.get(MARK)) === undefined) return;
  throw new StoreError(
    "Damaged",
    `${store.name} holds a part of a backup, since restoring it was broken off: remove it and restore again`,
  );
}

async function checkNew(store: Store, info: BackupInfo): Promise<void> {
  await checkRestored(store);
  const { entries, revision } = await store.range(everything, { limit: 1 });
  if (entries.length > 0)
    throw new StoreError("Invalid", `${store.name} is not empty: a backup is restored into a new store only`);
  const least = revisionAfter(info);
  if (revision < least)
    throw new StoreError(
      "Invalid",
      `${store.name} is at revision ${revision}, and must be at ${least} for clients to notice what was lost: ` +
        `open the new store with { revision: ${least} }. An etcd is restored from its own snapshots, with ` +
        "`etcdutl snapshot restore --bump-revision 1000000000 --mark-compacted`",
    );
}

async function fill(store: Store, records: AsyncIterable<BackupRecord>, { signal }: RestoreOptions): Promise<void> {
  const leases = new RestoredLeases(store);
  await commit(store, [{ type: "put", key: MARK, value: Buffer.alloc(0) }]);
  let operations: Put[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    signal?.throwIfAborted();
    if (operations.length > 0)
      await leases.using(async () => commit(store, await Promise.all(operations.map((each) => put(each, leases)))));
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
  if (!committed) throw new StoreError("Invalid", `another process writes to ${store.name}: let nobody use it yet`);
}

/** A backup's file, open: what was verified is what is read. */
class BackupReader implements AsyncDisposable {
  readonly #file: string;
  readonly #handle: FileHandle;
  readonly #header: BackupHeader;

  private constructor(file: string, opened: { readonly handle: FileHandle; readonly header: BackupHeader }) {
    this.#file = file;
    this.#handle = opened.handle;
    this.#header = opened.header;
  }

  /** @throws StoreError `Invalid` when it cannot be opened, `Damaged`, `NewerFormat` */
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

  /** Reads all of it. @throws StoreError `Damaged` unless it is what was written */
  async verify(): Promise<void> {
    const { size } = await this.#handle.stat();
    const whole = HEADER_BYTES + this.#header.bytes;
    if (size !== whole) throw damaged(this.#file, `it has ${size} bytes of ${whole}`);
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
    if (count !== this.#header.count) throw damaged(this.#file, `it has ${count} keys of ${this.#header.count}`);
  }

  records(): AsyncIterable<BackupRecord> {
    return decodeRecords(this.#chunks());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  /** The bytes of the records. */
  async *#chunks(): AsyncGenerator<Buffer, void, undefined> {
    for (let position = HEADER_BYTES; ; ) {
      const { bytesRead, buffer } = await this.#handle.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, position);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      position += bytesRead;
    }
  }
}

/** The leases of a backup, granted anew when the first of their keys is put. */
class RestoredLeases {
  readonly #store: Store;
  /** By their numbers, s. */
  readonly #remaining = new Map<number, number>();
  readonly #granted = new Map<number, Promise<Lease>>();

  constructor(store: Store) {
    this.#store = store;
  }

  add(number: number, remaining: number): void {
    this.#remaining.set(number, remaining);
  }

  /** Grants it, unless it is. */
  get(number: number): Promise<Lease> {
    const known = this.#granted.get(number);
    if (known !== undefined) return known;
    const lease = this.#store.grant(Math.max(1, this.#remaining.get(number) ?? 0));
    this.#granted.set(number, lease);
    return lease;
  }

  /** Does something with leases; those that are over by then are granted once more, for the keys still to come. */
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
