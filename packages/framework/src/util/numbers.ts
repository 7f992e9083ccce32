/** The longest that a timer can run, ms: more is 1 ms to Node. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** A number of options. @throws Error on what is neither a whole number from `least` on nor Infinity */
export function whole(name: string, value: number, least: number): number {
  if (value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && value >= least)) return value;
  throw new Error(`${name} must be a whole number from ${least} on, or Infinity; it is ${value}`);
}

/** What a timer can be set to, ms: what is longer, `Infinity` too, is 24 days, longer than anything here goes on. */
export function delayOf(time: number): number {
  return Math.min(time, LONGEST_DELAY);
}
