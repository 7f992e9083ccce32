import { header, headerValues, type ResponseHeaders } from "@virtual-workspaces/transport";
import { upstreamFault } from "./failure.ts";

/** @throws ApiError 503 when an answer is no JSON, as of a proxy that says that something is wrong with a 200 */
export function checkJson(headers: ResponseHeaders, origin: string): void {
  const type = header(headers, "content-type") ?? "";
  if (!type.startsWith("application/json"))
    throw upstreamFault(origin, `answered ${JSON.stringify(type.slice(0, 60))} instead of JSON`);
}

/** Hands on what the other server warns of. */
export function passWarnings(headers: ResponseHeaders, warn: (text: string) => void): void {
  if (headers["warning"] === undefined) return;
  for (const value of headerValues(headers, "warning")) {
    for (const [, text = ""] of value.matchAll(WARNING)) warn(text.replace(/\\(.)/g, "$1"));
  }
}

/** RFC 7234, 5.5: code, agent, text in quotes; perhaps a date, and more of them behind commas. */
const WARNING = /\b299 [^ ]+ "((?:[^"\\]|\\.)*)"/g;
