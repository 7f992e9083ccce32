import type { Entry, KeyRange, RangeResult, Store } from "../store.ts";

/** Desired page size, in bytes. Entries may have a few bytes or megabytes. */
const BYTES = 2 * 1024 * 1024;

const [FIRST, LARGEST] = [16, 1024];

/** Range of all possible keys: its end is longer than any key. */
export const everything: KeyRange = { from: "", to: "\u{10FFFF}".repeat(257) };

/** Options of reading a range in pages. */
export interface PagesOptions {
  /** Revision of all pages. @default the head when reading starts */
  readonly revision?: number | undefined;
  /** Number of entries of the first page, if the caller rarely needs more. @default 16 */
  readonly first?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a range at one revision in pages: at least one page, which may be empty.
 *
 * @throws StoreError `Compacted` if the revision is compacted meanwhile
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
 * Returns the number of entries of the next page: at most a few times as many as before, because entries may grow.
 *
 * @param read entries in the last page
 * @param fits desired page size divided by the size of the last page
 */
export function nextPage(limit: number, read: number, fits: number): number {
  return Math.max(1, Math.min(4 * limit, Math.floor(read * fits)));
}

function weightOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { value }) => sum + value.length, 1);
}
