const SURROGATE = /\\u[dD][89a-fA-F]/;
/** Every escape sequence, so that none is taken for what begins within another. */
const ESCAPES = /\\(?:u[dD][89abAB][0-9a-fA-F]{2}(\\u[dD][c-fC-F][0-9a-fA-F]{2})?|u[dD][c-fC-F][0-9a-fA-F]{2}|[\s\S])/g;

/** JSON whose texts can be written as UTF-8: half a surrogate pair becomes U+FFFD, as when Go reads it. */
export function wellFormed(text: string): string {
  if (!SURROGATE.test(text)) return text;
  return text.replace(ESCAPES, (sequence, low: string | undefined) => {
    const isHalf = low === undefined && sequence.length === 6;
    return isHalf ? "\\ufffd" : sequence;
  });
}
