import { setImmediate as nextTurn } from "node:timers/promises";
import { Slabs, type Take } from "../engine/bytes.ts";
import { sortable } from "../engine/key-order.ts";
import type { History, HistoryPage, HistoryQuery, KeptEvent } from "../engine/watch-hub.ts";
import type { Entry, KeyRange, RangeOptions, RangeResult } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { damaged, faultOf } from "./faults.ts";
import {
  decodeRecord,
  entryOf,
  integerKey,
  type LogPosition,
  type LogRecord,
  logPosition,
  NOWHERE,
  previousOf,
  readInteger,
  revisionOf,
} from "./log-record.ts";
import type { LmdbState, Table, Tables } from "./tables.ts";

/** Number of records to read in one turn of the event loop, which takes about two milliseconds. */
const SLICE = 1000;
const SLICE_BYTES = 2 ** 20;

/** Number of pages of the history that are kept for further watches, until the next full garbage collection. */
const PAGES = 8;

/** Length of a bound to compare; keys are shorter. */
const LONGEST_BOUND = 1025;

interface Row {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** Page of the log: whole revisions up to `upTo`. */
interface LogPage {
  readonly records: readonly { readonly record: LogRecord; readonly order: string }[];
  readonly upTo: number;
}

/** A page that one watch has read. */
const READ_ONCE = { deref: (): undefined => undefined };

type AddRecord = (record: LogRecord, order: string) => void;

export type LogTables = Pick<Tables, "keys" | "log">;

/** Options of a reader: tables, and visible revisions. */
export interface LogReaderOptions {
  readonly dir: string;
  readonly tables: LogTables;
  /** @throws StoreError `Closed` */
  checkOpen(): void;
  /** Returns the newest visible revision and the oldest complete one. */
  bounds(): Pick<LmdbState, "revision" | "compacted">;
}

/** Reads the tables. It holds no transaction across turns of the event loop: revisions make reads consistent. */
export class LogReader implements History {
  readonly #source: LogReaderOptions;
  readonly #keys: Table;
  readonly #log: Table;
  /** Recent pages by the revision before them. */
  readonly #pages = new Map<number, { deref(): LogPage | undefined }>();

  constructor(source: LogReaderOptions) {
    this.#source = source;
    this.#keys = source.tables.keys;
    this.#log = source.tables.log;
  }

  get compacted(): number {
    return this.#source.bounds().compacted;
  }

  /** Returns the newest record of a key, even if its revision is not visible yet. */
  newest(key: string): LogRecord | undefined {
    const position = this.#bytes(this.#keys, Buffer.from(key));
    return position && this.record(position);
  }

  positionOfKey(key: Buffer): LogPosition {
    const bytes = this.#bytes(this.#keys, key);
    return bytes === undefined ? NOWHERE : readInteger(bytes, 0);
  }

  get(key: string): Entry | undefined {
    const newest = this.#bytes(this.#keys, Buffer.from(key));
    if (newest === undefined) return undefined;
    const { revision } = this.#source.bounds();
    let position = readInteger(newest, 0);
    while (revisionOf(position) > revision) position = this.#before(position);
    return this.#entryAt(position);
  }

  async range(range: KeyRange, options: RangeOptions = {}): Promise<RangeResult> {
    for (;;) {
      const revision = options.revision ?? this.#source.bounds().revision;
      try {
        return await this.#rangeAt(range, revision, options);
      } catch (error) {
        // Compacted during a read of the current state: start again.
        const again = error instanceof StoreError && error.code === "Compacted" && options.revision === undefined;
        if (!again) throw error;
      }
    }
  }

  async #rangeAt(range: KeyRange, revision: number, { limit, signal }: RangeOptions): Promise<RangeResult> {
    const entries: Entry[] = [];
    const { take } = new Slabs();
    const end = bound(range.to);
    let start: Buffer | undefined = bound(range.from);
    let reached: LogPosition | undefined;
    while (start !== undefined && Buffer.compare(start, end) < 0) {
      signal?.throwIfAborted();
      this.check(revision);
      const from: Buffer = start;
      start = undefined;
      let [seen, bytes] = [0, 0];
      for (const { key, value } of this.scan(this.#keys, { start: from, end })) {
        let position: LogPosition = reached ?? readInteger(value, 0);
        for (; revisionOf(position) > revision && seen < SLICE; seen++) position = this.#before(position);
        if (revisionOf(position) > revision) {
          [start, reached] = [key, position];
          break;
        }
        reached = undefined;
        const entry = this.#entryAt(position, take);
        if (entry !== undefined) {
          // Steps back are not verified one by one, so the result must be of the same key.
          if (position !== readInteger(value, 0) && !key.equals(Buffer.from(entry.key))) throw this.#astray(position);
          if (entries.length === limit) return { entries, revision, more: true };
          entries.push(entry);
        }
        seen += 1;
        bytes += entry?.value.length ?? 0;
        if (seen >= SLICE || bytes >= SLICE_BYTES) {
          start = after(key);
          break;
        }
      }
      if (start !== undefined) await nextTurn();
    }
    return { entries, revision, more: false };
  }

  /** Returns a page of the history, in whole revisions. */
  read({ after, upTo, has, previous }: HistoryQuery): HistoryPage {
    const changes: { readonly revision: number; readonly events: KeptEvent[] }[] = [];
    const add: AddRecord = (record, order) => {
      if (!has(order)) return;
      const before = previous && record.previous !== NOWHERE ? this.record(integerKey(record.previous)) : undefined;
      const event = { key: record.key, order, entry: entryOf(record), previous: entryOf(before) };
      const revision = revisionOf(record.position);
      const last = changes.at(-1);
      if (last?.revision === revision) last.events.push(event);
      else changes.push({ revision, events: [event] });
    };
    const page = this.#sharedPage(after, upTo);
    if (page === undefined) return { changes, upTo: this.#readPage(after, upTo, add) };
    for (const { record, order } of page.records) add(record, order);
    return { changes, upTo: page.upTo };
  }

  /**
   * Many watches read the same page one after the other: at the start, one for each kind. The second keeps it for the others:
   * pages that one watch reads would only burden the garbage collector.
   */
  #sharedPage(after: number, upTo: number): LogPage | undefined {
    const known = this.#pages.get(after);
    const kept = known?.deref();
    if (kept !== undefined && kept.upTo <= upTo) return kept;
    this.#pages.delete(after);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size >= PAGES && oldest !== undefined) this.#pages.delete(oldest);
    if (known === undefined) {
      this.#pages.set(after, READ_ONCE);
      return undefined;
    }
    const records: { readonly record: LogRecord; readonly order: string }[] = [];
    const page = { records, upTo: this.#readPage(after, upTo, (record, order) => records.push({ record, order })) };
    this.#pages.set(after, new WeakRef(page));
    return page;
  }

  /** Reads whole revisions, about {@link SLICE} records. @returns the last revision */
  #readPage(after: number, upTo: number, add: AddRecord): number {
    const range = { start: integerKey(logPosition(after + 1, 0)), end: integerKey(logPosition(upTo + 1, 0)) };
    let [seen, bytes, through] = [0, 0, after];
    for (const { key, value } of this.scan(this.#log, range)) {
      const position = readInteger(key, 0);
      const revision = revisionOf(position);
      if (revision !== through && (seen >= SLICE || bytes >= SLICE_BYTES)) return through;
      seen += 1;
      bytes += value.length;
      through = revision;
      const record = this.decoded(value, position);
      add(record, sortable(record.key));
    }
    return upTo;
  }

  /** Returns the record at an encoded position, `undefined` if compaction has removed it. */
  record(at: Buffer, take: Take = Buffer.allocUnsafeSlow): LogRecord | undefined {
    const bytes = this.#copied(at, take);
    const position = readInteger(at, 0);
    if (bytes !== undefined) return this.decoded(bytes, position);
    if (revisionOf(position) <= this.compacted) return undefined;
    throw damaged(this.#source.dir, `no record at ${position} in the log`);
  }

  /** @throws StoreError `Closed`, `Future` or `Compacted` */
  check(revision: number): void {
    this.#source.checkOpen();
    const { revision: newest, compacted } = this.#source.bounds();
    if (revision > newest) throw StoreError.future(revision, newest);
    if (revision < compacted) throw StoreError.compacted(revision, compacted);
  }

  decoded(bytes: Buffer, position: LogPosition): LogRecord {
    const record = decodeRecord(bytes, position);
    if (record === undefined) throw damaged(this.#source.dir, `wrong checksum at ${position} in the log`);
    return record;
  }

  #bytes(table: Table, key: Buffer): Buffer | undefined {
    try {
      return table.getBinary(key);
    } catch (error) {
      throw faultOf(error, this.#source.dir);
    }
  }

  /** Rows of a part of a table, to be consumed in one turn of the event loop. */
  *scan(table: Table, range: { readonly start: Buffer; readonly end: Buffer }): Iterable<Row> {
    try {
      yield* table.getRange(range);
    } catch (error) {
      throw faultOf(error, this.#source.dir);
    }
  }

  #entryAt(position: LogPosition, take?: Take): Entry | undefined {
    return position === NOWHERE ? undefined : entryOf(this.record(integerKey(position), take));
  }

  /** Copies a value, because LMDB reuses its read buffer. */
  #copied(at: Buffer, take: Take): Buffer | undefined {
    try {
      const bytes = this.#log.getBinaryFast(at);
      if (bytes === undefined) return undefined;
      // Its `length` is the size of the value, not of the buffer.
      const copy = take(bytes.length);
      bytes.copy(copy, 0, 0, copy.length);
      return copy;
    } catch (error) {
      throw faultOf(error, this.#source.dir);
    }
  }

  /** Returns the previous position of a key, without reading the value. */
  #before(position: LogPosition): LogPosition {
    const previous = this.#previousAt(integerKey(position));
    if (previous !== undefined && previous < position) return previous;
    throw this.#astray(position);
  }

  #astray(position: LogPosition): StoreError {
    return damaged(this.#source.dir, `inconsistent history of a key at ${position} in the log`);
  }

  #previousAt(at: Buffer): LogPosition | undefined {
    try {
      const bytes = this.#log.getBinaryFast(at);
      return bytes && previousOf(bytes);
    } catch (error) {
      throw faultOf(error, this.#source.dir);
    }
  }
}

function bound(key: string): Buffer {
  return key === "" ? Buffer.of(0) : Buffer.from(key).subarray(0, LONGEST_BOUND);
}

function after(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.of(0)]);
}
