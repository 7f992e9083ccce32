/** Position of a request in a distributed trace (W3C Trace Context). */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits, of the caller's own span. */
  readonly spanId: string;
  readonly flags: number;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const KEY = /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})$/;
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Parses a `traceparent` header. `undefined`: missing or malformed, so there is no trace. */
export function parseTraceParent(text: string): TraceParent | undefined {
  if (text.length > 512) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", more] = FORM.exec(text) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/** Parses `tracestate` lines. `undefined`: there are none, or one member is malformed, which invalidates all. */
export function parseTraceState(lines: readonly string[]): string | undefined {
  const text = lines.join(",");
  if (text === "" || text.length > 512) return undefined;
  const members = text
    .split(",")
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ""))
    .filter((member) => member !== "");
  const keys = members.map((member) => member.slice(0, Math.max(0, member.indexOf("="))));
  if (members.length > 32 || new Set(keys).size < keys.length) return undefined;
  const isWell = members.every(
    (member, at) => KEY.test(keys[at] ?? "") && VALUE.test(member.slice(member.indexOf("=") + 1)),
  );
  return isWell && members.length > 0 ? members.join(",") : undefined;
}
