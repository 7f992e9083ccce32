import type { Counts } from "../api/types.ts";
import { texts } from "../texts.ts";

/** At most so many values are shown. */
export const MOST_COUNTED = 12;

interface ValueCountsProps {
  readonly counts: Counts;
  readonly textOf: (value: string) => string;
}

/** How many of the selected objects have each value of a column. */
export function ValueCounts({ counts: { values, others }, textOf }: ValueCountsProps) {
  const hidden = values.slice(MOST_COUNTED).reduce((sum, { count }) => sum + count, others);
  return (
    <ul class="counts" aria-label={texts.table.count}>
      {values.slice(0, MOST_COUNTED).map(({ value, count }) => (
        <li key={String(value)}>
          {value === null || value === undefined || value === "" ? "–" : textOf(String(value))} <strong>{count}</strong>
        </li>
      ))}
      {hidden > 0 && <li class="muted">{texts.table.others(hidden)}</li>}
    </ul>
  );
}
