/** How much is told of what a provider says, characters. */
const SHOWN = 512;

/** What a provider says, for a message: control characters could make a line of a log, or a terminal, say something else. */
export function shown(text: string): string {
  const plain = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return plain.length > SHOWN ? `${plain.slice(0, SHOWN)}…` : plain;
}

/** What JSON says; `undefined` of what is none. */
export function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
