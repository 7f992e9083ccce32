import { untilAborted } from "@virtual-workspaces/transport";

/** Runs work in turns: one at a time, in the order in which it was given. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /**
   * Waits for the turn, and works until the promise of `act` settles.
   *
   * @param signal gives up the turn while it waits for it
   * @throws the error of `act`, or the signal's reason
   */
  async take<R>(act: () => Promise<R>, signal?: AbortSignal): Promise<R> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = before.then(() => promise);
    try {
      await untilAborted(before, signal);
      signal?.throwIfAborted();
      return await act();
    } finally {
      resolve();
    }
  }
}
