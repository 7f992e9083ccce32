import type { Entry, KeyRange, RangeResult, Store } from "../store.ts";

/** What a page is to weigh, bytes: entries may have megabytes each, or a few bytes. */
const BYTES = 2 * 1024 * 1024;

const [FIRST, LARGEST] = [16, 1024];

/** All keys there can be: what is above is longer than a key may be. */
export const everything: KeyRange = { from: "", to: "\u{10FFFF}".repeat(257) };

/** How a range is read page by page. */
export interface PagesOptions {
  /** @default what stands now, for all pages */
  readonly revision?: number | undefined;
  /** How many entries the first page has, where more will very likely not be wanted. @default 16 */
  readonly first?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a range as it stands at one revision, page by page: at least one, the first of which may be empty.
 *
 * @throws StoreError `Compacted` when the revision is compacted on the way
 */
export async function* pages(
  store: Store,
  range: KeyRange,
  { revision, first = FIRST, signal }: PagesOptions = {},
): AsyncGenerator<RangeResult, void, undefined> {
  const { to } = range;
  let { from } = range;
  let limit = Math.max(1, Math.min(first, LARGEST));
  for (let at = revision; ; ) {
    const page = await store.range({ from, to }, { limit, ...(at && { revision: at }), ...(signal && { signal }) });
    yield page;
    const last = page.entries.at(-1);
    if (!page.more || last === undefined) return;
    at = page.revision;
    from = `${last.key}\u0000`;
    limit = Math.min(LARGEST, nextPage(limit, page.entries.length, BYTES / weightOf(page.entries)));
  }
}

/**
 * How many entries to ask for next: a few times as many as before at most, for those to come may be larger.
 *
 * @param read how many came
 * @param fits how many times these weigh what a page is to weigh
 */
export function nextPage(limit: number, read: number, fits: number): number {
  return Math.max(1, Math.min(4 * limit, Math.floor(read * fits)));
}

function weightOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { value }) => sum + value.length, 1);
}
