/** Returns the CPU time of this thread in ms, which does not depend on other programs. */
export function computed(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Calibration for {@link slowness}: the number of times that an object of 65,000 members is parsed, and the time on the
 * reference machine in ms.
 */
const ROUNDS = 3;
const USUAL = 65;
let text: string | undefined;

/**
 * Returns how much slower this machine is now than the reference machine for the tests' bounds, at least 1. Two programs that
 * share a core each run at half its speed, which CPU time does not show.
 */
export function slowness(): number {
  text ??= JSON.stringify(
    Object.fromEntries(Array.from({ length: 65_000 }, (_, at) => [`name-of-a-member-${at.toString(36)}`, at])),
  );
  const began = computed();
  for (let round = 0; round < ROUNDS; round++) JSON.parse(text);
  return Math.max(1, (computed() - began) / USUAL);
}
