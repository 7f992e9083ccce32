/** Headers of a response by lower-case name, one character per byte; lists for repeated ones. Read them with {@link header}. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Returns the first value of a header, UTF-8 decoded. @param name in lower case */
export function header(headers: ResponseHeaders, name: string): string | undefined {
  return headerValues(headers, name)[0];
}

/** Returns all values of a header, in order, UTF-8 decoded. @param name in lower case */
export function headerValues(headers: ResponseHeaders, name: string): readonly string[] {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  if (value === undefined) return [];
  return (typeof value === "object" ? value : [value]).map(decoded);
}

const ASCII = /^[\t -~]*$/;

function decoded(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, "latin1").toString("utf8");
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in one
const BAD = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Headers that the connection sets itself. */
const OURS = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Encodes header lines for undici, which expects one byte per character.
 *
 * @throws Error for headers that a server could read differently; it names the header, never its value
 */
export function onTheWire(lines: readonly string[]): string[] {
  if (lines.length % 2 !== 0) throw new Error("invalid headers: alternate names and values");
  const sent: string[] = [];
  for (let at = 0; at < lines.length; at += 2) {
    // Not destructured from an array, which would be made for each line.
    const name = lines[at] as string;
    const text = lines[at + 1] as string;
    sent.push(checkedName(name));
    if (ASCII.test(text)) sent.push(text);
    else if (BAD.test(text) || !text.isWellFormed())
      throw new Error(`invalid value of header ${name}: remove control characters and lone surrogates`);
    else sent.push(Buffer.from(text, "utf8").toString("latin1"));
  }
  return sent;
}

/** Cache of valid names: there are few, and they repeat. */
const GOOD = new Set<string>();
const MOST_GOOD = 1_000;

function checkedName(name: string): string {
  if (GOOD.has(name)) return name;
  if (!TOKEN.test(name)) throw new Error(`invalid header name ${JSON.stringify(name)}: use an HTTP token`);
  if (OURS.has(name.toLowerCase())) throw new Error(`header ${name} is set by the connection: leave it out`);
  if (GOOD.size >= MOST_GOOD) GOOD.clear();
  GOOD.add(name);
  return name;
}

/** Returns the lines without those of some names; the same array if it has none of them. @param names in lower case */
export function without(lines: readonly string[], names: ReadonlySet<string>): readonly string[] {
  for (let at = 0; at < lines.length; at += 2)
    if (names.has(lowered(lines[at] as string)))
      return lines.filter((_, each) => !names.has(lowered(lines[each - (each % 2)] as string)));
  return lines;
}

/** Whether lines have a header. @param wanted in lower case */
export function isNamed(lines: readonly string[], wanted: string): boolean {
  for (let at = 0; at < lines.length; at += 2) {
    const name = lines[at] as string;
    if (name.length === wanted.length && lowered(name) === wanted) return true;
  }
  return false;
}

/** Cache of names in lower case. */
const LOWER = new Map<string, string>();

function lowered(name: string): string {
  let lower = LOWER.get(name);
  if (lower === undefined) {
    lower = name.toLowerCase();
    if (LOWER.size >= MOST_GOOD) LOWER.clear();
    LOWER.set(name, lower);
  }
  return lower;
}

/** Returns the names of lines, in lower case. */
export function namesOf(lines: readonly string[]): Set<string> {
  const names = new Set<string>();
  for (let at = 0; at < lines.length; at += 2) names.add((lines[at] ?? "").toLowerCase());
  return names;
}

/** Matches an entry of a `Warning` header: code, agent, quoted text, and an optional quoted date (RFC 7234). */
const WARNING = /(\d{3}) +([^\s"]+) +"((?:[^"\\]|\\.)*)"(?: +"[^"]*")?/g;

/** Returns the texts of `Warning` headers of code 299, in which API servers warn users. */
export function warningsOf(headers: ResponseHeaders): string[] {
  if (headers["warning"] === undefined) return [];
  const found = headerValues(headers, "warning").flatMap((line) => [...line.matchAll(WARNING)]);
  return found.flatMap(([, code, , text = ""]) => (code === "299" ? [text.replace(/\\(.)/g, "$1")] : []));
}
