import { headerValues, type ResponseHeaders } from "@virtual-workspaces/transport";

/** How many texts are remembered; the oldest is forgotten first. */
const REMEMBERED = 1_000;

/** Tells each text once, as far as it remembers. */
export function onceEach(tell: (text: string) => void): (text: string) => void {
  let told: Set<string> | undefined;
  return (text) => {
    told ??= new Set();
    if (told.has(text)) return;
    const [oldest] = told;
    if (told.size >= REMEMBERED && oldest !== undefined) told.delete(oldest);
    told.add(text);
    tell(text);
  };
}

const WARNING = /(?:^|,)\s*299\s+\S+\s+"((?:[^"\\]|\\.)*)"(?:\s+"[^"]*")?/g;

/** The texts of the `Warning` headers that API servers send (code 299). */
export function warningsOf(headers: ResponseHeaders): string[] {
  return headerValues(headers, "warning").flatMap((value) =>
    [...value.matchAll(WARNING)].map(([, text = ""]) => text.replace(/\\(.)/g, "$1")),
  );
}
