/** What this thread has computed so far, ms: other programs on the machine do not count, however busy it is. */
export function computed(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The computation that {@link slowness} times: how often one object of 65,000 members is read, and what that took where the bounds of tests were set, ms. */
const ROUNDS = 3;
const USUAL = 65;
let text: string | undefined;

/**
 * How much longer the same computation takes now than where the bounds of tests were set, at least 1: a processor that two
 * programs share is half as fast for each, and the time that a thread computes says nothing of that.
 */
export function slowness(): number {
  text ??= JSON.stringify(
    Object.fromEntries(Array.from({ length: 65_000 }, (_, at) => [`name-of-a-member-${at.toString(36)}`, at])),
  );
  const began = computed();
  for (let round = 0; round < ROUNDS; round++) JSON.parse(text);
  return Math.max(1, (computed() - began) / USUAL);
}
