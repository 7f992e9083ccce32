import { texts } from "../texts.ts";
import { Icon } from "../ui/icons.tsx";

interface PagerProps {
  readonly total: number | undefined;
  readonly offset: number;
  readonly size: number;
  readonly onOffset: (offset: number) => void;
}

/** First offset of the last page. */
export const lastOffset = (total: number, size: number): number => Math.max(0, Math.ceil(total / size) - 1) * size;

/** Which objects of how many are shown, with buttons to the other pages. */
export function Pager({ total, offset, size, onOffset }: PagerProps) {
  if (total === undefined) return <span class="muted">{texts.loading}</span>;
  if (total <= size && offset === 0) return <span class="muted">{texts.table.total(total)}</span>;
  const last = lastOffset(total, size);
  const button = (name: "first" | "previous" | "next" | "last", to: number, isOff: boolean) => (
    <button type="button" class="quiet" aria-label={texts.table[name]} disabled={isOff} onClick={() => onOffset(to)}>
      <Icon name={name} />
    </button>
  );
  return (
    <div class="pager">
      {button("first", 0, offset === 0)}
      {button("previous", Math.max(0, offset - size), offset === 0)}
      <span>{texts.table.range(Math.min(offset + 1, total), Math.min(offset + size, total), total)}</span>
      {button("next", offset + size, offset >= last)}
      {button("last", last, offset >= last)}
    </div>
  );
}
