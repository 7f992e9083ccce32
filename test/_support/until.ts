// One way to wait for what a test cannot be told of: looked at again and again, with pauses, and with a deadline.
import { setTimeout as delay } from "node:timers/promises";

export interface UntilOptions {
  /** What is waited for, for the error. @default the text of the condition */
  readonly what?: string | (() => string);
  /** How long it may take, ms. A machine with much to do needs more than it should. @default 20,000 */
  readonly within?: number;
}

/** The longest pause between two looks, ms. */
const LONGEST_PAUSE = 20;

/**
 * Resolves to the first value of `look` other than `undefined` and `false`.
 *
 * @throws Error that names `what`, once `within` is over
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

/** What an answer is told by when it is not the one that was waited for. */
interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Resolves to the first answer that `is` accepts. @throws Error with the last answer, once `within` is over, ms */
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
