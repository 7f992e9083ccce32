/** What one pass over a JSON text tells before it is parsed. Of use only if the text is JSON. */
export interface JsonFacts {
  /** How many members its objects have together. A parsed tree with fewer had duplicate names. */
  readonly members: number;
  readonly depth: number;
  /** Whether a number may be one that `JSON.parse` changes: sixteen digits or more, or an exponent. */
  readonly longNumbers: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Characters of numbers that are not read off by their range. */
const isNumberPart = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || unit === 0x2e || unit === 0x2b || unit === 0x2d || unit === 0x65 || unit === 0x45;

/** Reads off what {@link JsonFacts} says, in one pass and without a tree. */
export function scanJson(text: string): JsonFacts {
  let members = 0;
  let depth = 0;
  let deepest = 0;
  let longNumbers = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at);
    else if (unit === COLON) members += 1;
    else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (unit === 0x7d || unit === 0x5d) depth -= 1;
    else if (unit === 0x2d || (unit >= 0x30 && unit <= 0x39)) {
      const end = endOfNumber(text, at);
      longNumbers ||= end - at > 15 || hasExponent(text, at, end);
      at = end - 1;
    }
  }
  return { members, depth: deepest, longNumbers };
}

/** Where a string ends that begins at `from`: at its closing quote, or behind the text. */
export function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === BACKSLASH) at += 1;
    else if (unit === QUOTE) return at;
  }
  return text.length;
}

function endOfNumber(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && isNumberPart(text.charCodeAt(at))) at += 1;
  return at;
}

function hasExponent(text: string, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x65 || unit === 0x45) return true;
  }
  return false;
}
