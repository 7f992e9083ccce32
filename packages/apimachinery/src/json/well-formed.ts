const SURROGATE = /\\u[dD][89a-fA-F]/;
const PAIR = /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/y;
const HALF = /\\u[dD][89a-fA-F][0-9a-fA-F]{2}/y;

/** JSON whose texts can be written as UTF-8: half a surrogate pair becomes U+FFFD, as when Go reads it. */
export function wellFormed(text: string): string {
  if (!SURROGATE.test(text)) return text;
  const pieces: string[] = [];
  let from = 0;
  // From one escape sequence to the next, so that none is taken for what begins within another.
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", at)) {
    const mayBeSurrogate = text[at + 1] === "u" && (text[at + 2] === "d" || text[at + 2] === "D");
    if (mayBeSurrogate && matches(PAIR, text, at)) at += 12;
    else if (mayBeSurrogate && matches(HALF, text, at)) {
      pieces.push(text.slice(from, at), "\\ufffd");
      at += 6;
      from = at;
    } else at += 2;
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(from);
}

function matches(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
