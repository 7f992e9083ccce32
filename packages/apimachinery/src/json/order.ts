/**
 * Compares texts by their UTF-8 bytes, which is how Go, etcd and LMDB order them; `<` on strings compares UTF-16 units and
 * differs above U+FFFF.
 */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return weight(left) - weight(right);
  }
  return a.length - b.length;
}

/** Only with these the order of UTF-16 units, which the engine sorts by, is not that of UTF-8. */
const SURROGATE = /[\ud800-\udfff]/;

/** Texts sorted by their UTF-8 bytes; the engine's own sort wherever it does so, since there may be very many. */
export function sortedUtf8(texts: Iterable<string>): string[] {
  const sorted = [...texts].sort();
  return sorted.some((text) => SURROGATE.test(text)) ? sorted.sort(compareUtf8) : sorted;
}

/** Surrogates stand for code points above all others. */
function weight(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
