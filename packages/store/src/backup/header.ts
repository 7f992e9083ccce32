import { StoreError } from "../store-error.ts";

/** Bytes at the beginning of a backup that hold its header: JSON in one line, so that people can read it. */
export const HEADER_BYTES = 1024;
const FORMAT = 1;
const MAGIC = '{"virtualWorkspacesBackup":';
/** Characters of an engine's name that fit into a header whatever they are. */
const NAME_LENGTH = 100;

/** What a backup says of itself. */
export interface BackupInfo {
  /** Everything in it stood together at this revision of the store. */
  readonly revision: number;
  /** The name of the store that it is from, cut to 100 characters. */
  readonly engine: string;
  /** When that was, RFC 3339. */
  readonly time: string;
  /** How many keys there are. */
  readonly count: number;
  /** The size of all records. */
  readonly bytes: number;
}

export interface BackupHeader extends BackupInfo {
  /** Of all records and of the header itself, in hex. */
  readonly sha256: string;
}

/** The part of a header that its checksum covers. */
export function headerText({ revision, engine, time, count, bytes }: BackupInfo): string {
  const text = JSON.stringify({ revision, engine: engine.slice(0, NAME_LENGTH), time, count, bytes });
  return `${MAGIC}${FORMAT},${text.slice(1)}`;
}

/** The first bytes of a backup: the header, spaces, the end of the line. */
export function encodeHeader(header: BackupHeader): Buffer {
  const block = Buffer.alloc(HEADER_BYTES, " ");
  block.write(`${headerText(header).slice(0, -1)},"sha256":${JSON.stringify(header.sha256)}}`);
  block.write("\n", HEADER_BYTES - 1);
  return block;
}

/** @throws StoreError `Damaged` or `NewerFormat` */
export function decodeHeader(bytes: Buffer, file: string): BackupHeader {
  if (bytes.length > 0 && bytes.every((byte) => byte === 0))
    throw new StoreError("Damaged", `${file} is a backup that was never finished: take another one`);
  const text = bytes.toString();
  if (!text.startsWith(MAGIC)) throw new StoreError("Damaged", `${file} is not a backup of a store`);
  const format = Number.parseInt(text.slice(MAGIC.length), 10);
  if (format > FORMAT)
    throw new StoreError(
      "NewerFormat",
      `${file} has format ${format}, and ${FORMAT} is the newest that this version reads: ` +
        "restore it with the version that wrote it, or a newer one",
    );
  const header = format === FORMAT ? parsed(text) : undefined;
  if (header === undefined) throw damaged(file, "its header cannot be read");
  return header;
}

export function damaged(file: string, how: string): StoreError {
  return new StoreError("Damaged", `the backup ${file} is damaged: ${how}. Nothing was restored; use another backup`);
}

function parsed(text: string): BackupHeader | undefined {
  let value: Partial<Record<keyof BackupHeader, unknown>>;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { revision, engine, time, count, bytes, sha256 } = value;
  if (!(isCount(revision) && isCount(count) && isCount(bytes))) return undefined;
  if (!(typeof engine === "string" && typeof time === "string" && typeof sha256 === "string")) return undefined;
  return { revision, engine, time, count, bytes, sha256 };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
