// Why: what goes wrong beside a test (a rejection nobody awaits, an error that is only logged) is still wrong. Such
// faults are collected here, and hooks.ts fails the test during which they came up, unless it expected them.

const faults: string[] = [];

/** Notes a fault: the running test fails with it unless it takes it out with {@link expectFault}. */
export function reportFault(kind: string, cause: unknown): void {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  faults.push(`${kind}: ${text}`);
}

/** Asserts that a fault matching `pattern` came up, and forgives all that match. */
export function expectFault(pattern: RegExp): void {
  const others = faults.filter((fault) => !pattern.test(fault));
  if (others.length === faults.length) throw new Error(`expected a fault like ${pattern}, got ${list(faults)}`);
  faults.splice(0, faults.length, ...others);
}

/** Throws, and forgets, what came up since the last call. */
export function throwFaults(): void {
  const found = faults.splice(0);
  if (found.length > 0) throw new Error(`unexpected ${list(found)}`);
}

/** Prints, and forgets, what came up since the last call. */
export function showFaults(): void {
  for (const fault of faults.splice(0)) process.stderr.write(`${fault}\n`);
}

function list(found: readonly string[]): string {
  return found.length === 0 ? "none" : found.join("\n");
}
