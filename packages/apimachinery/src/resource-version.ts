const CANONICAL = /^[1-9][0-9]*$/;

/**
 * The order of two canonical resource versions: negative when `a` is older, 0 when equal. Compared as decimal texts,
 * by length and then by characters, so that they may exceed 2^53 (client-go's util/resourceversion).
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Whether a text is a canonical resource version: a positive decimal without leading zeros. "" (unset) and "0" (any
 * version) are requests, not versions, and are for the caller to tell apart first.
 */
export function isResourceVersion(text: string): boolean {
  return CANONICAL.test(text);
}
