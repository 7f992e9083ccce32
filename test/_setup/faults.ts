// Why: faults beside a test, such as an unhandled rejection or an error that is only logged, are still faults. They are
// collected here, and hooks.ts fails the test in which they occur, unless it expects them.

/** Warning of servers under test that is no fault: they listen on the loopback interface. */
export const OVER_PLAIN_HTTP = /bearer tokens over plain HTTP/;

const faults: string[] = [];

/** Records a fault. The running test fails with it unless it calls {@link expectFault}. */
export function reportFault(kind: string, cause: unknown): void {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  if (!OVER_PLAIN_HTTP.test(text)) faults.push(`${kind}: ${text}`);
}

/** Asserts that a fault matching `pattern` occurred, and removes all that match. */
export function expectFault(pattern: RegExp): void {
  const others = faults.filter((fault) => !pattern.test(fault));
  if (others.length === faults.length) throw new Error(`expected a fault like ${pattern}, got ${list(faults)}`);
  faults.splice(0, faults.length, ...others);
}

/** Throws the faults since the last call, and forgets them. */
export function throwFaults(): void {
  const found = faults.splice(0);
  if (found.length > 0) throw new Error(`unexpected ${list(found)}`);
}

/** Prints the faults since the last call, and forgets them. */
export function showFaults(): void {
  for (const fault of faults.splice(0)) process.stderr.write(`${fault}\n`);
}

function list(found: readonly string[]): string {
  return found.length === 0 ? "none" : found.join("\n");
}
