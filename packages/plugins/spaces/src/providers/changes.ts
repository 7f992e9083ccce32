import type { ProviderChange } from "../provider/provider.ts";

/** What a provider tells those who watch it. */
export class Changes {
  readonly #hearing = new Set<(change: ProviderChange) => void>();

  tell(change: ProviderChange): void {
    for (const hear of [...this.#hearing]) hear(change);
  }

  /** What is told from now on, each name once until it is read, until the signal aborts. */
  heard(signal: AbortSignal): AsyncGenerator<ProviderChange, void, undefined> {
    const waiting = new Set<string | undefined>();
    let wake: () => void = () => undefined;
    const hear = ({ name }: ProviderChange): void => {
      waiting.add(name);
      wake();
    };
    this.#hearing.add(hear);
    const abort = (): void => wake();
    signal.addEventListener("abort", abort);
    const end = (): void => {
      this.#hearing.delete(hear);
      signal.removeEventListener("abort", abort);
    };
    return (async function* () {
      try {
        while (!signal.aborted) {
          for (const name of waiting) {
            waiting.delete(name);
            yield name === undefined ? {} : { name };
          }
          const { promise, resolve } = Promise.withResolvers<void>();
          wake = resolve;
          if (waiting.size === 0 && !signal.aborted) await promise;
        }
      } finally {
        end();
      }
    })();
  }
}
