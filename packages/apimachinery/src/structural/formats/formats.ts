import { isDate } from "../../text/time.ts";
import { isEmail } from "./email.ts";
import { isCidr, isHostname, isIpv4, isIpv6, isMac, isRequestUri } from "./network.ts";

/** Returns whether a text has a format. */
export type TextCheck = (text: string) => boolean;

const UUID = uuid("[0-9a-f]", "[0-9a-f]");
const BYTE_COLOUR = "(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])";
const NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

/** Text formats that a CustomResourceDefinition may name, by their names without dashes. */
const TEXT_FORMATS: ReadonlyMap<string, TextCheck> = new Map<string, TextCheck>([
  ["bsonobjectid", matches(/^[0-9a-fA-F]{24}$/)],
  ["byte", isBase64],
  ["cidr", isCidr],
  ["creditcard", isCreditCard],
  ["date", isDate],
  ["datetime", isDateTime],
  ["duration", isDuration],
  ["email", isEmail],
  ["hexcolor", matches(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ["hostname", isHostname],
  ["ipv4", isIpv4],
  ["ipv6", isIpv6],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["k8slongname", (text) => text.length <= 253 && text.split(".").every((part) => NAME.test(part))],
  ["k8sshortname", (text) => text.length <= 63 && NAME.test(text)],
  ["mac", isMac],
  ["password", () => true],
  [
    "rgbcolor",
    matches(new RegExp(`^rgb\\(${Array(3).fill(`[\\t\\n\\f\\r ]*${BYTE_COLOUR}[\\t\\n\\f\\r ]*`).join(",")}\\)$`)),
  ],
  ["ssn", (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ["uri", isRequestUri],
  ["uuid", UUID],
  ["uuid3", uuid("3", "[0-9a-f]")],
  ["uuid4", uuid("4", "[89ab]")],
  ["uuid5", uuid("5", "[89ab]")],
]);

/** Returns the format of a schema if it has a meaning for its types, else "": Kubernetes ignores other formats. */
export function formatOf(format: string | undefined, typeNames: readonly string[]): string {
  if (format === undefined) return "";
  const type = typeNames.length === 1 ? typeNames[0] : "";
  if (type === "integer") return format === "int32" || format === "int64" ? format : "";
  if (type === "number") return format === "float" || format === "double" ? format : "";
  return (type === "" || type === "string") && TEXT_FORMATS.has(normalized(format)) ? format : "";
}

/** Whether Kubernetes knows a format for values of a type ("" for any). It ignores other formats with a warning. */
export function isRecognizedFormat(format: string, type: string): boolean {
  return formatOf(format, type === "" ? [] : [type]) !== "";
}

/** Returns the check of a text format. */
export function textFormat(format: string): TextCheck | undefined {
  return format === "" ? undefined : TEXT_FORMATS.get(normalized(format));
}

function normalized(format: string): string {
  return format.replaceAll("-", "");
}

function matches(pattern: RegExp): TextCheck {
  return (text) => pattern.test(text);
}

function uuid(version: string, variant: string): TextCheck {
  const hex = "[0-9a-f]";
  return matches(new RegExp(`^${hex}{8}-?${hex}{4}-?${version}${hex}{3}-?${variant}${hex}{3}-?${hex}{12}$`, "i"));
}

/** Requires padding, and rejects an empty text. Has no regular expression, which would need a stack as deep as the text is long. */
function isBase64(text: string): boolean {
  if (text === "" || text.length % 4 !== 0) return false;
  const end = text.length - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
  for (let at = 0; at < end; at++) if (!isBase64Unit(text.charCodeAt(at))) return false;
  return true;
}

function isBase64Unit(unit: number): boolean {
  const letter = (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a;
  return letter || (unit >= 0x2f && unit <= 0x39) || unit === 0x2b;
}

/** Whether a text is a credit card number, with any characters between its digits (govalidator's IsCreditCard). */
function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  return ISSUERS.test(digits) && luhnSum(digits) % 10 === 0;
}

const ISSUERS =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;

/** Sums the digits, where every second one from the right counts double, as the sum of its own digits. */
function luhnSum(digits: string): number {
  let sum = 0;
  for (let at = digits.length - 1, double = false; at >= 0; at--, double = !double) {
    const digit = Number(digits[at]) * (double ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum;
}

/** Whether a text is an ISBN of ten characters, whose last may be an X. */
function isIsbn10(text: string): boolean {
  const digits = withoutSeparators(text);
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < 10; at++) sum += (at + 1) * (digits[at] === "X" ? 10 : Number(digits[at]));
  return sum % 11 === 0;
}

/** Whether a text is an ISBN of thirteen digits. */
function isIsbn13(text: string): boolean {
  const digits = withoutSeparators(text);
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < 12; at++) sum += Number(digits[at]) * (at % 2 === 0 ? 1 : 3);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}

function withoutSeparators(text: string): string {
  return text.replace(/[\t\n\f\r -]+/g, "");
}

/** Whether strfmt's IsDateTime accepts a text. It accepts any character before the fraction and ignores a second `T`. */
function isDateTime(text: string): boolean {
  if (text.length > LONGEST) return false;
  const [date = "", time] = text.toLowerCase().split("t");
  if (time === undefined || !isDate(date)) return false;
  const parts = /^(\d\d):(\d\d):(\d\d)(?:[^\n]\d+)?(?:z|[+-]\d\d:\d\d)$/u.exec(time);
  return parts !== null && (parts[1] ?? "") <= "23" && (parts[2] ?? "") <= "59" && (parts[3] ?? "") <= "59";
}

/** Maximum length of a date and time, which bounds the work. */
const LONGEST = 10_000;

/** Whether a text is a duration in Go's form (`1h2.5m`), or contains numbers with Scala's units: `3 days`. */
function isDuration(text: string): boolean {
  return text.length <= LONGEST && (GO_DURATION.test(text) || isScalaDuration(text));
}

const GO_DURATION = /^[+-]?(?:0|(?:\d{1,9}(?:\.\d*)?(?:ns|us|µs|μs|ms|s|m|h)|\.\d+(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** Matches a number, space and unit. No part can match in two ways, so that it takes linear time. */
const TOKEN = /(\d+)[\t\n\f\r ]*([A-Za-zµ]*)|[^0-9]+/g;
const MAX_INT64 = 2n ** 63n - 1n;

function isScalaDuration(text: string): boolean {
  let found = false;
  for (const [, digits, unit = ""] of text.matchAll(TOKEN)) {
    if (digits === undefined || unit === "") continue;
    if (BigInt(digits) > MAX_INT64) return false;
    found ||= isUnit(unit.toLowerCase());
  }
  return found;
}

/** Whether a text is a unit: short units exactly, long ones by their beginning. */
function isUnit(unit: string): boolean {
  return SHORT_UNITS.has(unit) || LONG_UNITS.some((long) => unit.startsWith(long));
}

const SHORT_UNITS: ReadonlySet<string> = new Set(["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"]);
const LONG_UNITS = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
