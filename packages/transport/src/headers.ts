/** Headers of an answer by their names in lower case, a character a byte; those that came more than once are lists. Read them with {@link header}. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The first value of a header, UTF-8 decoded. @param name in lower case */
export function header(headers: ResponseHeaders, name: string): string | undefined {
  return headerValues(headers, name)[0];
}

/** All values of a header, in order, UTF-8 decoded. @param name in lower case */
export function headerValues(headers: ResponseHeaders, name: string): readonly string[] {
  const value = headers[name];
  if (value === undefined) return [];
  return (typeof value === "object" ? value : [value]).map(decoded);
}

const ASCII = /^[\t -~]*$/;

function decoded(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, "latin1").toString("utf8");
}

/** Header lines as undici writes them: it takes a byte a character. */
export function onTheWire(lines: readonly string[]): string[] {
  return lines.map((text) => (ASCII.test(text) ? text : Buffer.from(text, "utf8").toString("latin1")));
}
