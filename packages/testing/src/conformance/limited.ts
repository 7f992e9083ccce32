/** Runs what it is given when there is a place for it. */
export type Slots = <T>(run: () => Promise<T>) => Promise<T>;

/** A function that runs what it is given, `count` at a time, the rest in the order they came. */
export function limited(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;
  return async (run) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      // The slot is handed on rather than freed, so that nobody gets in between.
      if (next === undefined) free += 1;
      else next();
    }
  };
}
