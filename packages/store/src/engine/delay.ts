/** The longest that a timer of Node can run, ms: more is 1 ms to it. */
const LONGEST = 2 ** 31 - 1;

/** What a timer can be set to, ms: what is longer, `Infinity` too, is 24 days. */
export function delayOf(time: number): number {
  return Math.min(time, LONGEST);
}
