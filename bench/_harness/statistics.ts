/** The middle of `values`: one bad round on a busy machine does not move it. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  const upper = at(sorted, middle);
  return sorted.length % 2 === 1 ? upper : (at(sorted, middle - 1) + upper) / 2;
}

/** The value below which the share `p` (0 to 1) of the ascending `sorted` lies. */
export function percentile(sorted: Float64Array, p: number): number {
  return at(sorted, Math.min(sorted.length - 1, Math.ceil(sorted.length * p) - 1));
}

function at(values: Float64Array, index: number): number {
  const value = values[index];
  if (value === undefined) throw new RangeError("no values");
  return value;
}
