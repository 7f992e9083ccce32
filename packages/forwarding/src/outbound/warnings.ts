import { headerValues, type ResponseHeaders } from "@virtual-workspaces/transport";

/** One of the list that a `Warning` header is: code, agent, text in quotes, and perhaps a date, in quotes too (RFC 7234). */
const WARNING = /(\d{3}) ([^\s"]+) "((?:[^"\\]|\\.)*)"(?: "[^"]*")?/g;

/** The texts of warnings of code 299, which are what API servers have to say to people. */
export function warningsIn(headers: ResponseHeaders): string[] {
  const found = headerValues(headers, "warning").flatMap((line) => [...line.matchAll(WARNING)]);
  return found.flatMap(([, code, , text = ""]) => (code === "299" ? [text.replace(/\\(.)/g, "$1")] : []));
}
