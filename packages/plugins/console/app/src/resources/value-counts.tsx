import type { Counts } from "../api/types.ts";
import { texts } from "../texts.ts";

/** At most so many values are shown. */
const MOST = 12;

/** How many of the selected objects have each value of a column. */
export function ValueCounts({ counts: { values, others } }: { readonly counts: Counts }) {
  const hidden = values.slice(MOST).reduce((sum, { count }) => sum + count, others);
  return (
    <ul class="counts" aria-label={texts.table.count}>
      {values.slice(0, MOST).map(({ value, count }) => (
        <li key={String(value)}>
          {value === null || value === undefined || value === "" ? "–" : String(value)} <strong>{count}</strong>
        </li>
      ))}
      {hidden > 0 && <li class="muted">{texts.table.others(hidden)}</li>}
    </ul>
  );
}
