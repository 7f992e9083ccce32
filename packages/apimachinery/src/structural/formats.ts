import { isEmail } from "./formats/email.ts";
import { isCidr, isHostname, isIpv4, isIpv6, isMac } from "./formats/network.ts";
import { isCreditCard, isIsbn10, isIsbn13 } from "./formats/numbers.ts";
import { isDate, isDateTime, isDuration } from "./formats/time.ts";
import { isRequestUri } from "./formats/uri.ts";

/** Says whether a text is what is asked for. */
export type TextCheck = (text: string) => boolean;

const UUID = uuid("[0-9a-f]", "[0-9a-f]");
const BYTE_COLOUR = "(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])";
const NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

/** The formats of texts that a CustomResourceDefinition may name, by their names without dashes. */
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

/** A schema's format if it means something for its types, else "": Kubernetes ignores the others. */
export function formatOf(format: string | undefined, typeNames: readonly string[]): string {
  if (format === undefined) return "";
  const type = typeNames.length === 1 ? typeNames[0] : "";
  if (type === "integer") return format === "int32" || format === "int64" ? format : "";
  if (type === "number") return format === "float" || format === "double" ? format : "";
  return (type === "" || type === "string") && TEXT_FORMATS.has(normalized(format)) ? format : "";
}

/** Whether Kubernetes knows a format for values of a type ("" for any): others it ignores, and warns of. */
export function isRecognizedFormat(format: string, type: string): boolean {
  return formatOf(format, type === "" ? [] : [type]) !== "";
}

/** The test of a format of texts. */
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

/** With padding, and not empty. By hand: a regular expression would need a stack as deep as the text is long. */
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
