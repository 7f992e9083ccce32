import { Duration } from "@marcbachmann/cel-js/evaluator";

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
/** Digits of the largest 64-bit integer. */
const MAX_DIGITS = 19;
const SECOND = 1_000_000_000n;
const DAY = 86_400_000_000_000n;
/** Units of schema durations beyond Go's, with prefixes of longer names. */
const LONG_UNITS: readonly (readonly [bigint, readonly string[], string])[] = [
  [1n, ["ns"], "nano"],
  [1000n, ["us", "µs"], "micro"],
  [1_000_000n, ["ms"], "milli"],
  [1_000_000_000n, ["s"], "sec"],
  [60_000_000_000n, ["m"], "min"],
  [3_600_000_000_000n, ["h", "hr"], "hour"],
  [DAY, ["d"], "day"],
  [7n * DAY, ["w", "wk"], "week"],
];
const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/;
const LOCAL = /^(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Parses a duration in Go's format: `1h30m`, `-1.5s`, `0`. Returns undefined if it is invalid. */
export function parseGoDuration(text: string): Duration | undefined {
  const body = text.replace(/^[+-]/, "");
  if (body === "0") return durationOf(0n);
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined;
  let nanos = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of body.matchAll(/(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const scale = UNITS[unit] ?? 1n;
    const count = countOf(whole);
    if (count === undefined) return undefined;
    nanos += count * scale + fractionOf(fraction.slice(0, MAX_DIGITS), scale);
  }
  const signed = text.startsWith("-") ? -nanos : nanos;
  return BigInt.asIntN(64, signed) === signed ? durationOf(signed) : undefined;
}

/** Returns undefined beyond 64 bits, however many digits there are. */
function countOf(digits: string): bigint | undefined {
  const significant = digits.replace(/^0+/, "");
  return significant.length > MAX_DIGITS ? undefined : BigInt(significant);
}

function fractionOf(digits: string, scale: bigint): bigint {
  return digits === "" ? 0n : (BigInt(digits) * scale) / 10n ** BigInt(digits.length);
}

/** Parses a value of format duration, which also allows days, weeks and unit names. */
export function parseSchemaDuration(text: string): Duration {
  const plain = parseGoDuration(text);
  if (plain !== undefined) return plain;
  let nanos: bigint | undefined;
  // The match must not begin inside a number: that could take quadratic time.
  for (const [, digits = "", name = ""] of text.matchAll(/(?<!\d)(\d+)\s*([A-Za-zµ]+)/g)) {
    const unit = name.toLowerCase();
    const known = LONG_UNITS.find(([, short, long]) => short.includes(unit) || unit.startsWith(long));
    const count = countOf(digits);
    if (known !== undefined && count !== undefined) nanos = (nanos ?? 0n) + count * known[0];
  }
  if (nanos === undefined) throw new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`);
  return durationOf(BigInt.asIntN(64, nanos));
}

/** Parses a value of format date or date-time, with millisecond precision. */
export function parseSchemaTimestamp(text: string, format: "date" | "date-time"): Date {
  const parsed = format === "date" ? fromParts(DATE.exec(text)) : fromParts(RFC3339.exec(text) ?? LOCAL.exec(text));
  if (parsed !== undefined) return parsed;
  if (text === "" && format === "date-time") return new Date(0);
  throw new CelError(`Invalid ${format} formatted string ${text}: ${parsingError(text)}`);
}

function parsingError(text: string): string {
  return `parsing time "${text}"`;
}

/** Parses an RFC 3339 time. Returns undefined if it is invalid. */
export function parseRfc3339(text: string): Date | undefined {
  return fromParts(RFC3339.exec(text));
}

function fromParts(parts: RegExpExecArray | null): Date | undefined {
  if (parts === null) return undefined;
  const [, year = "", month = "", day = "", hour = "0", minute = "0", second = "0", fraction = "", zone = "Z"] = parts;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const valid = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  if (!valid || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const seconds = BigInt(date.getTime() / 1000) + BigInt(Number(hour) * 3600 + Number(minute) * 60 + Number(second));
  const offset = zoneSeconds(zone);
  if (offset === undefined) return undefined;
  return new Date(Number(seconds - offset) * 1000 + Number(fraction.slice(0, 3).padEnd(3, "0")));
}

function zoneSeconds(zone: string): bigint | undefined {
  if (zone === "Z") return 0n;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 24 || minutes > 60) return undefined;
  const seconds = BigInt(hours * 3600 + minutes * 60);
  return zone.startsWith("-") ? -seconds : seconds;
}

/** Parses a value of format byte, which Kubernetes decodes as base64url here. */
export function parseBytes(text: string): Uint8Array {
  const bytes = Buffer.from(text, "base64url");
  const valid = text.length % 4 === 0 && /^[A-Za-z0-9_-]*={0,2}$/.test(text);
  if (!valid) throw new CelError(`Invalid byte formatted string ${text}: illegal base64 data`);
  return bytes;
}

/** Formats a time as CEL does: RFC 3339 with as many digits as needed. */
export function formatTimestamp(time: Date): string {
  return time.toISOString().replace(/\.?0*Z$/, "Z");
}

/** Formats a duration as CEL does: `3600s`, `1.5s`. */
export function formatDuration(duration: Duration): string {
  const nanos = durationNanos(duration);
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = size % SECOND;
  const digits = fraction === 0n ? "" : `.${String(fraction).padStart(9, "0").replace(/0+$/, "")}`;
  return `${nanos < 0n ? "-" : ""}${size / SECOND}${digits}s`;
}

export function durationOf(nanos: bigint): Duration {
  return new Duration(nanos / SECOND, Number(nanos % SECOND));
}

export function durationNanos(duration: Duration): bigint {
  return BigInt(duration.seconds) * SECOND + BigInt(duration.nanos);
}

/** CEL evaluation error, which `&&` and `||` may absorb. */
export class CelError extends Error {
  override readonly name = "CelError";
}

/** Returns the number of code points. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    if (isPair(text, index)) {
      count--;
      index++;
    }
  }
  return count;
}

/** Returns the UTF-16 index of a code point; the length for the one after the last. */
export function utf16Index(text: string, codePoint: number): number {
  let index = 0;
  for (let count = 0; count < codePoint; count++) index += isPair(text, index) ? 2 : 1;
  return index;
}

function isPair(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  if (unit < 0xd800 || unit > 0xdbff) return false;
  const next = text.charCodeAt(index + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}

/** Formats a double like Go's `%g`. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [mantissa = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  const digits = mantissa.replace(/[-.]/g, "");
  if (exponent < -4 || exponent >= 6) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  const sign = value < 0 ? "-" : "";
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return sign + digits.padEnd(exponent + 1, "0");
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}
