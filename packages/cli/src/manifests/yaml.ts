/** Read alike by YAML 1.1 and 1.2, and by nobody as something else than a text. */
const PLAIN = /^(?!e[-\d])[a-z/][a-z0-9._/-]*$/i;
const WORDS: ReadonlySet<string> = new Set(["true", "false", "yes", "no", "on", "off", "null", "y", "n"]);

/** A value of JSON as a document of YAML, with a line's end. Texts that could be anything else are in double quotes, as in JSON. */
export function yamlOf(value: unknown): string {
  return block(value, "").replace(/^\n?/, "").replace(/^ /, "").concat("\n");
}

/** What comes behind `key:` or `-`. */
function block(value: unknown, indent: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return " []";
    return value.map((item: unknown) => `\n${indent}-${inItem(item, `${indent}  `)}`).join("");
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    if (members.length === 0) return " {}";
    return members
      .map(([key, member]) => `\n${indent}${scalar(key)}:${block(member, deeper(member, indent))}`)
      .join("");
  }
  return ` ${scalar(value)}`;
}

/** Lists stand as far left as their key, as `kubectl` prints them. */
function deeper(value: unknown, indent: string): string {
  return Array.isArray(value) ? indent : `${indent}  `;
}

/** The first line of an item is behind its dash. */
function inItem(item: unknown, indent: string): string {
  const text = block(item, indent);
  return text.startsWith("\n") ? ` ${text.slice(1 + indent.length)}` : text;
}

function scalar(value: unknown): string {
  if (typeof value === "string" && PLAIN.test(value) && !WORDS.has(value.toLowerCase())) return value;
  return JSON.stringify(value);
}
