// Waits for a condition that emits no event: polls it with pauses, until a deadline.
import { setTimeout as delay } from "node:timers/promises";

export interface UntilOptions {
  /** Description of the condition, for the error. @default the text of the condition */
  readonly what?: string | (() => string);
  /** Deadline in ms, generous because of busy machines. @default 20,000 */
  readonly within?: number;
}

/** Maximum pause between two polls, in ms. */
const LONGEST_PAUSE = 20;

/**
 * Resolves to the first value of `look` other than `undefined` and `false`.
 *
 * @throws Error that names `what`, after `within` ms
 */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  { what, within = 20_000 }: UntilOptions = {},
): Promise<T> {
  const deadline = performance.now() + within;
  for (let pause = 1; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline)
      throw new Error(`not within ${within} ms: ${(typeof what === "function" ? what() : what) ?? look}`);
    await delay(pause);
  }
}

/** Parts of an answer that the error shows. */
interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Resolves to the first answer that `is` accepts. @throws Error with the last answer, after `within` ms */
export async function untilAnswer<A extends Answer>(
  ask: () => Promise<A>,
  is: (answer: A) => boolean,
  within?: number,
): Promise<A> {
  let last: A | undefined;
  const look = async (): Promise<A | undefined> => {
    last = await ask();
    return is(last) ? last : undefined;
  };
  const what = (): string => `another answer than ${last?.status} ${last?.text}`;
  return until(look, { what, ...(within !== undefined && { within }) });
}
