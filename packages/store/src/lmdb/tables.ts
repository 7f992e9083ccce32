import { statSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type Database, open, type RootDatabase } from "lmdb";
import { type LogPosition, readInteger, writeInteger } from "./log-record.ts";

const STATE = Buffer.from("state");
const BINARY = { encoding: "binary", keyEncoding: "binary" } as const;
/** Address space for the file to grow into before it is mapped again. Where address space is limited, more would be fatal. */
const ROOM = 2 ** 30;
const FIELDS = ["revision", "compacted", "swept", "lease"] as const;
const SIZE = 4 + 8 * FIELDS.length;

/** State of the whole store, written with every group. */
export interface LmdbState {
  /** Newest revision. */
  readonly revision: number;
  /** Oldest revision that is complete. */
  readonly compacted: number;
  /** Position up to which compaction has swept the log. */
  readonly swept: LogPosition;
  /** Number of the newest lease. */
  readonly lease: number;
}

export const FIRST: LmdbState = { revision: 1, compacted: 0, swept: 0, lease: 0 };

/** Table from bytes to bytes, sorted by key. */
export type Table = Database<Buffer, Buffer>;

/** Open file of the engine. */
export interface Tables {
  /** Key to the position of its newest log record. */
  readonly keys: Table;
  /** Position to log record (see `log-record.ts`). Each value is stored here once. */
  readonly log: Table;
  /** Number of a lease to its time to live and expiry. */
  readonly leases: Table;
  /** Number of a lease and a key, to nothing. */
  readonly leased: Table;
  /** Makes reads see the newest writes of other processes. */
  refresh(): void;
  /** Returns the state after the newest group; `undefined` if it is damaged. */
  state(): LmdbState | undefined;
  /** Writes the state into the current batch. */
  setState(state: LmdbState): void;
  /** Applies writes atomically. Resolves when they are durable; another thread waits for the disk. */
  batch(work: () => void): Promise<void>;
  /** Applies writes synchronously: it throws where a batch would print to stderr. */
  batchSync(work: () => void): void;
  close(): Promise<void>;
}

/** Options of opening the file. */
export interface TableOptions {
  readonly readOnly: boolean;
}

export async function openTables(dir: string, { readOnly }: TableOptions): Promise<Tables> {
  const options = {
    path: dir,
    noSubdir: false,
    readOnly,
    mapSize: mapSize(join(dir, "data.mdb")),
    maxDbs: 8,
    maxReaders: 1024,
    overlappingSync: false,
    eventTurnBatching: false,
    permissionsMode: 0o600,
    ...BINARY,
  };
  const root = open<Buffer, Buffer>(options);
  try {
    return tablesIn(root);
  } catch (error) {
    await root.close();
    throw error;
  }
}

function tablesIn(root: RootDatabase<Buffer, Buffer>): Tables {
  const table = (name: string): Table => root.openDB<Buffer, Buffer>({ name, ...BINARY });
  const info = table("info");
  return {
    keys: table("keys"),
    log: table("log"),
    leases: table("leases"),
    leased: table("leased"),
    refresh: () => root.resetReadTxn(),
    state: () => decodeState(info.getBinary(STATE)),
    setState: (state) => void info.put(STATE, encodeState(state)),
    async batch(work) {
      try {
        await root.batch(work);
      } catch (error) {
        throw await causeOf(error);
      }
    },
    batchSync: (work) => root.transactionSync(work),
    close: () => root.close(),
  };
}

function mapSize(file: string): number {
  const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0 };
  return Math.ceil(size / ROOM) * ROOM + ROOM;
}

/** Creates an empty store in an empty directory. */
export async function createTables(dir: string, state: LmdbState): Promise<void> {
  const tables = await openTables(dir, { readOnly: false });
  try {
    tables.batchSync(() => tables.setState(state));
  } finally {
    await tables.close();
  }
}

/** Returns the cause of a failed batch, which is in a promise of its own. */
async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !("commitError" in error)) return error;
  try {
    await error.commitError;
  } catch (cause) {
    return cause;
  }
  return error;
}

function encodeState(state: LmdbState): Buffer {
  const bytes = Buffer.allocUnsafe(SIZE);
  FIELDS.forEach((field, index) => {
    writeInteger(bytes, state[field], 4 + 8 * index);
  });
  bytes.writeUInt32BE(crc32(bytes.subarray(4)), 0);
  return bytes;
}

/** @returns `undefined` unless these bytes were written by this format */
function decodeState(bytes: Buffer | undefined): LmdbState | undefined {
  if (bytes?.length !== SIZE || crc32(bytes.subarray(4)) !== bytes.readUInt32BE(0)) return undefined;
  const [revision = 0, compacted = 0, swept = 0, lease = 0] = FIELDS.map((_, index) =>
    readInteger(bytes, 4 + 8 * index),
  );
  return { revision, compacted, swept, lease };
}
