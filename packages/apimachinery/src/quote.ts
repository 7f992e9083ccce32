const NAMED: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
]);

// What Go does not call printable: everything but letters, marks, numbers, punctuation, symbols and the ASCII space.
const UNPRINTABLE = /["\\]|(?! )[\p{C}\p{Z}]/gu;

/**
 * Text in double quotes as Go's %q writes it, which is how Kubernetes quotes the names in its messages. Control and
 * invisible characters are escaped, so hostile input cannot forge lines in a log.
 */
export function quote(text: string): string {
  return `"${text.replace(UNPRINTABLE, escapeSequence)}"`;
}

function escapeSequence(character: string): string {
  const named = NAMED.get(character);
  if (named !== undefined) return named;
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x80) return `\\x${point.toString(16).padStart(2, "0")}`;
  if (point < 0x10000) return `\\u${point.toString(16).padStart(4, "0")}`;
  return `\\U${point.toString(16).padStart(8, "0")}`;
}
