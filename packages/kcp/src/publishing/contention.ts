/** Between two writes of the same, ms: at first, and at most. */
const FIRST = 1_000;
const MOST = 300_000;
/** After so long a write of the same is a new one, ms. */
const FORGOTTEN = 900_000;

interface Write {
  readonly text: string;
  readonly at: number;
  readonly wait: number;
  /** How often the same was written in a row. */
  readonly times: number;
}

/**
 * Keeps two writers from undoing each other's work without end: who writes the same again, because it is not there any more, waits,
 * each time twice as long, up to five minutes. It remembers one write for each object that has been written.
 */
export class Contention {
  readonly #writes = new Map<string, Write>();

  /** How long a write has to wait, ms; 0 if it need not. */
  wait(id: string, text: string, now: number): number {
    const last = this.#last(id, text, now);
    return last === undefined ? 0 : Math.max(0, Math.ceil(last.at + last.wait - now));
  }

  /** Notes a write. @returns how often the same has been written now */
  wrote(id: string, text: string, now: number): number {
    const last = this.#last(id, text, now);
    const wait = last === undefined ? FIRST : Math.min(last.wait * 2, MOST);
    const times = (last?.times ?? 0) + 1;
    this.#writes.set(id, { text, at: now, wait, times });
    return times;
  }

  forget(id: string): void {
    this.#writes.delete(id);
  }

  #last(id: string, text: string, now: number): Write | undefined {
    const last = this.#writes.get(id);
    return last !== undefined && last.text === text && now - last.at < FORGOTTEN ? last : undefined;
  }
}
