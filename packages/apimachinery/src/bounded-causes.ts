import type { StatusCause } from "./status.ts";

/** More causes help nobody, and to word a million of them would take seconds. */
export const MOST_CAUSES = 1_000;

/** What they may say together, characters: what is wrong with each of many may quote all of them. */
const MOST_TEXT = 2 ** 20;

/** The causes that come, worded one by one, until there are enough. */
export function boundedCauses(causes: Iterable<StatusCause>): StatusCause[] {
  const found: StatusCause[] = [];
  let text = 0;
  for (const cause of causes) {
    found.push(cause);
    text += cause.message?.length ?? 0;
    if (found.length >= MOST_CAUSES || text >= MOST_TEXT) break;
  }
  return found;
}
