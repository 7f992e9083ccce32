/** How long is waited after failures in a row, ms: twice as long each time, to a quarter more or less at random. */
export function backoff(failures: number, { base, max }: { readonly base: number; readonly max: number }): number {
  return Math.min(max, base * 2 ** Math.max(0, failures - 1)) * (0.75 + Math.random() / 2);
}
