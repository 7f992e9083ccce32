/**
 * Returns the closest name to a misspelled one: at most two letters differ, and one letter in four of a short name.
 *
 * @returns `undefined` when no name is that close
 */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const close = names
    .map((one) => ({ one, letters: distance(one, name) }))
    .filter(({ one, letters }) => letters <= Math.max(1, Math.min(MISTYPED, one.length / 4)) && letters < one.length)
    .sort((a, b) => a.letters - b.letters);
  return close[0]?.one;
}

/** Largest number of letters in which a misspelled name may differ. */
const MISTYPED = 2;

/** Number of letters to add, remove, replace or swap with the next one (Damerau and Levenshtein). */
function distance(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [at, second] of [...other].entries()) {
      const replaced = (row[at] ?? 0) + (letter === second ? 0 : 1);
      const isSwapped = letter === other[at - 1] && second === one[index - 1];
      const swapped = isSwapped ? (before[at - 1] ?? 0) + 1 : replaced;
      next.push(Math.min((next[at] ?? 0) + 1, (row[at + 1] ?? 0) + 1, replaced, swapped));
    }
    [before, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
