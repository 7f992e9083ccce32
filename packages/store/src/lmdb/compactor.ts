import type { Draft } from "./commit-group.ts";
import type { Reader } from "./log-reader.ts";
import { integerKey, isDeleted, NOWHERE, type Place, placeOf, readInteger } from "./log-record.ts";
import type { State, Tables } from "./tables.ts";
import type { Writer } from "./writer.ts";

/** So many entries of the log are gone through in one group. */
const SLICE = 1000;
const SLICE_BYTES = 4 * 2 ** 20;

/** Forgets the history, slice by slice between the groups of others. */
export class Compactor {
  readonly #tables: Tables;
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor({ tables, reader, writer }: { tables: Tables; reader: Reader; writer: Writer }) {
    this.#tables = tables;
    this.#reader = reader;
    this.#writer = writer;
  }

  /** Goes on where the last process stopped, if it did. */
  get isBehind(): boolean {
    return !isSwept(this.#writer.state);
  }

  async compact(revision: number): Promise<void> {
    await this.#writer.run((draft) => {
      if (revision > draft.state.compacted) draft.setState({ compacted: revision });
    });
    await this.sweep();
  }

  async sweep(): Promise<void> {
    while (this.isBehind) await this.#writer.run((draft) => this.#slice(draft));
  }

  /** What was superseded goes with what superseded it; what was deleted goes with the note of it. */
  #slice(draft: Draft): void {
    const { compacted, swept } = draft.state;
    const end = endOf(compacted);
    let [seen, bytes] = [0, 0];
    let through: Place = end - 1;
    const range = { start: integerKey(swept + 1), end: integerKey(end) };
    for (const { key, value } of this.#reader.scan(this.#tables.log, range)) {
      const place = readInteger(key, 0);
      const record = this.#reader.decoded(value, place);
      if (record.previous !== NOWHERE) draft.write("log", integerKey(record.previous));
      if (isDeleted(record)) {
        draft.write("log", integerKey(place));
        const name = Buffer.from(record.key);
        if (this.#reader.placeOfKey(name) === place) draft.write("keys", name);
      }
      seen += 1;
      bytes += value.length;
      if (seen === SLICE || bytes >= SLICE_BYTES) {
        through = place;
        break;
      }
    }
    draft.setState({ swept: through });
  }
}

function endOf(revision: number): Place {
  return placeOf(revision + 1, 0);
}

function isSwept({ compacted, swept }: State): boolean {
  return compacted === 0 || swept >= endOf(compacted) - 1;
}
