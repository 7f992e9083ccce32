import type { CommitGroup } from "./commit-group.ts";
import type { LogReader } from "./log-reader.ts";
import { integerKey, isDeleted, type LogPosition, logPosition, NOWHERE, readInteger } from "./log-record.ts";
import type { LmdbState, Tables } from "./tables.ts";
import type { Writer } from "./writer.ts";

/** Number of log records to process in one group. */
const SLICE = 1000;
const SLICE_BYTES = 4 * 2 ** 20;

/** Compacts the history in slices, between the groups of other writers. */
export class Compactor {
  readonly #tables: Tables;
  readonly #reader: LogReader;
  readonly #writer: Writer;

  constructor({ tables, reader, writer }: { tables: Tables; reader: LogReader; writer: Writer }) {
    this.#tables = tables;
    this.#reader = reader;
    this.#writer = writer;
  }

  /** Whether a compaction is incomplete, perhaps one of an earlier process. */
  get isBehind(): boolean {
    return !isSwept(this.#writer.state);
  }

  async compact(revision: number): Promise<void> {
    await this.#writer.run((group) => {
      if (revision > group.state.compacted) group.setState({ compacted: revision });
    });
    await this.sweep();
  }

  async sweep(): Promise<void> {
    while (this.isBehind) await this.#writer.run((group) => this.#slice(group));
  }

  /** Removes superseded records, and deletions with the record before them. */
  #slice(group: CommitGroup): void {
    const { compacted, swept } = group.state;
    const end = endOf(compacted);
    let [seen, bytes] = [0, 0];
    let through: LogPosition = end - 1;
    const range = { start: integerKey(swept + 1), end: integerKey(end) };
    for (const { key, value } of this.#reader.scan(this.#tables.log, range)) {
      const position = readInteger(key, 0);
      const record = this.#reader.decoded(value, position);
      if (record.previous !== NOWHERE) group.write("log", integerKey(record.previous));
      if (isDeleted(record)) {
        group.write("log", integerKey(position));
        const name = Buffer.from(record.key);
        if (this.#reader.positionOfKey(name) === position) group.write("keys", name);
      }
      seen += 1;
      bytes += value.length;
      if (seen === SLICE || bytes >= SLICE_BYTES) {
        through = position;
        break;
      }
    }
    group.setState({ swept: through });
  }
}

function endOf(revision: number): LogPosition {
  return logPosition(revision + 1, 0);
}

function isSwept({ compacted, swept }: LmdbState): boolean {
  return compacted === 0 || swept >= endOf(compacted) - 1;
}
