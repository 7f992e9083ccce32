import { compareUtf8 } from "../json/order.ts";

/** Only with these the order of UTF-16 units, which the engine sorts by, is not that of UTF-8. */
const SURROGATE = /[\ud800-\udfff]/;

/** Texts sorted by their UTF-8 bytes; the engine's own sort wherever it does so, since there may be very many. */
export function sortedUtf8(texts: Iterable<string>): string[] {
  const sorted = [...texts].sort();
  return sorted.some((text) => SURROGATE.test(text)) ? sorted.sort(compareUtf8) : sorted;
}
