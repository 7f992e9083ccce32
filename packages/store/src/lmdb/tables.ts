import { statSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type Database, open, type RootDatabase } from "lmdb";
import { type LogPosition, readInteger, writeInteger } from "./log-record.ts";

const STATE = Buffer.from("state");
const BINARY = { encoding: "binary", keyEncoding: "binary" } as const;
/** Addresses that the file may grow into before it is mapped anew. Where they are limited, asking for too many kills. */
const ROOM = 2 ** 30;
const FIELDS = ["revision", "compacted", "swept", "lease"] as const;
const SIZE = 4 + 8 * FIELDS.length;

/** What holds for the whole store; written with every group of changes. */
export interface LmdbState {
  /** The newest. */
  readonly revision: number;
  /** Below this one the history is gone. */
  readonly compacted: number;
  /** Up to here compaction has been through the log. */
  readonly swept: LogPosition;
  /** The newest lease's number. */
  readonly lease: number;
}

export const FIRST: LmdbState = { revision: 1, compacted: 0, swept: 0, lease: 0 };

/** A table: bytes by bytes, in their order. */
export type Table = Database<Buffer, Buffer>;

/** The file of the engine, open. */
export interface Tables {
  /** By key: the position of its newest entry in the log. */
  readonly keys: Table;
  /** By position: what happened there (see `log-record.ts`). Every value is here, once. */
  readonly log: Table;
  /** By number: how long a lease is and when it is over. */
  readonly leases: Table;
  /** By the number of a lease and a key: nothing. */
  readonly leased: Table;
  /** What is read from now on is as new as what other processes have written. */
  refresh(): void;
  /** As of the newest group of changes. `undefined`: damaged. */
  state(): LmdbState | undefined;
  /** Puts the state into the batch that is being made. */
  setState(state: LmdbState): void;
  /** All or nothing, durable when it resolves; the disk is waited for off this thread. */
  batch(work: () => void): Promise<void>;
  /** The same at once: it fails plainly where a batch would write to the error output. */
  batchSync(work: () => void): void;
  close(): Promise<void>;
}

/** How the file is opened. */
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

/** Makes an empty store in an empty folder. */
export async function createTables(dir: string, state: LmdbState): Promise<void> {
  const tables = await openTables(dir, { readOnly: false });
  try {
    tables.batchSync(() => tables.setState(state));
  } finally {
    await tables.close();
  }
}

/** What made a batch fail comes by a promise of its own. */
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

/** @returns `undefined` when these are not bytes that were written so */
function decodeState(bytes: Buffer | undefined): LmdbState | undefined {
  if (bytes?.length !== SIZE || crc32(bytes.subarray(4)) !== bytes.readUInt32BE(0)) return undefined;
  const [revision = 0, compacted = 0, swept = 0, lease = 0] = FIELDS.map((_, index) =>
    readInteger(bytes, 4 + 8 * index),
  );
  return { revision, compacted, swept, lease };
}
