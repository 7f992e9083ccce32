/** One question that is being asked, for everybody who waits for its answer. */
export class Flight<V> {
  readonly answer: Promise<V>;
  readonly #over = new AbortController();
  #waiting = 0;

  constructor(ask: (signal: AbortSignal) => Promise<V>) {
    this.answer = ask(this.#over.signal);
    // Those who wait are told; when nobody does any more, nobody need be.
    this.answer.catch(() => undefined);
  }

  /** Whether all who waited have left. */
  get abandoned(): boolean {
    return this.#over.signal.aborted;
  }

  /** The answer, for as long as the caller waits. The last to leave ends the asking. @throws the signal's reason */
  async join(signal: AbortSignal | undefined): Promise<V> {
    this.#waiting += 1;
    if (signal === undefined) return this.answer;
    let leave: () => void = () => undefined;
    const left = new Promise<never>((_resolve, reject) => {
      leave = () => {
        reject(signal.reason);
        this.#waiting -= 1;
        if (this.#waiting === 0) this.#over.abort(signal.reason);
      };
    });
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
    try {
      return await Promise.race([this.answer, left]);
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }
}
