const LABEL = "[a-zA-Z0-9\\p{S}\\p{L}]";
const HOSTNAME = new RegExp(
  `^(?:${LABEL}(?:-?${LABEL}{0,62})?|(?:${LABEL}(?:(?:${LABEL}|-){0,61}${LABEL})?\\.)+[a-zA-Z\\p{L}]{2,63})$`,
  "u",
);

/** Whether a text is an Internet host name (strfmt's IsHostname): at most 255 bytes, labels of at most 63. */
export function isHostname(text: string): boolean {
  if (text.length > 255 || !HOSTNAME.test(text)) return false;
  const lengths = text.split(".").map(utf8Length);
  return lengths.every((length) => length <= 63) && lengths.reduce((sum, length) => sum + length + 1, -1) <= 255;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Whether a text is an IPv4 address, with leading zeros allowed, or an IPv6 address that ends like one. */
export function isIpv4(text: string): boolean {
  return text.includes(".") && isSloppyIp(text);
}

/** Whether a text is an IPv6 address. */
export function isIpv6(text: string): boolean {
  return text.includes(":") && isIpv6Address(text, STRICT);
}

/** Whether Go's net.ParseIP accepts an address. */
export function isStrictIp(text: string): boolean {
  return text.includes(":") ? isIpv6Address(text, STRICT) : isIpv4Address(text, STRICT);
}

/** Whether a text is a network: an address and its prefix length. */
export function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return false;
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  return isSloppyIp(address) && /^0*\d{1,3}$/.test(bits) && Number(bits) <= (address.includes(":") ? 128 : 32);
}

/**
 * Whether a text is a hardware address of 6, 8 or 20 bytes: pairs of digits with colons or dashes, groups of four with dots,
 * or without separators.
 */
export function isMac(text: string): boolean {
  return MAC.test(text);
}

const MAC = new RegExp(
  [6, 8, 20]
    .flatMap((bytes) => [
      `[0-9a-f]{2}(?::[0-9a-f]{2}){${bytes - 1}}`,
      `[0-9a-f]{2}(?:-[0-9a-f]{2}){${bytes - 1}}`,
      `[0-9a-f]{4}(?:\\.[0-9a-f]{4}){${bytes / 2 - 1}}`,
      `[0-9a-f]{${bytes * 2}}`,
    ])
    .map((form) => `^${form}$`)
    .join("|"),
  "i",
);

/** Syntax of an address's parts; Kubernetes' own parser accepts any number of leading zeros. */
interface Parts {
  readonly octet: RegExp;
  readonly group: RegExp;
}

const STRICT: Parts = { octet: /^(?:0|[1-9]\d{0,2})$/, group: /^[0-9a-f]{1,4}$/i };
const SLOPPY: Parts = { octet: /^0*\d{1,3}$/, group: /^0*[0-9a-f]{1,4}$/i };

function isSloppyIp(text: string): boolean {
  const colon = text.indexOf(":");
  const dot = text.indexOf(".");
  const first = dot >= 0 && (colon < 0 || dot < colon);
  return first ? isIpv4Address(text, SLOPPY) : isIpv6Address(text, SLOPPY);
}

function isIpv4Address(text: string, written: Parts): boolean {
  const parts = text.split(".", 5);
  return parts.length === 4 && parts.every((part) => written.octet.test(part) && Number(part) <= 255);
}

/** Checks groups of up to four digits; `::` once, for one group of zeros or more; the last two may be an IPv4 address. */
function isIpv6Address(text: string, written: Parts): boolean {
  const [before = "", after, more] = text.split("::", 3);
  if (more !== undefined || (after?.startsWith(":") ?? false)) return false;
  const groups = [...groupsOf(before), ...groupsOf(after ?? "")];
  let count = groups.length;
  const last = groups.at(-1);
  if (last?.includes(".")) {
    // An IPv4 address counts for two groups, and must be at the end.
    if ((after === "" && before !== "") || !isIpv4Address(last, written)) return false;
    groups.pop();
    count += 1;
  }
  if (!groups.every((group) => written.group.test(group))) return false;
  return after === undefined ? count === 8 : count <= 7;
}

function groupsOf(text: string): string[] {
  return text === "" ? [] : text.split(":", 10);
}

/** Whether Go's url.ParseRequestURI accepts a text: an absolute URI or an absolute path. */
export function isRequestUri(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (text === "" || /[\x00-\x1f\x7f]/.test(text)) return false;
  if (text === "*") return true;
  if (text.startsWith(":")) return false;
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*(?=:)/.exec(text)?.[0] ?? "";
  const behind = scheme === "" ? text : text.slice(scheme.length + 1);
  const rest = behind.split("?", 1)[0] ?? "";
  if (!rest.startsWith("/")) return scheme !== "";
  if (scheme === "" || !rest.startsWith("//")) return isEscaped(rest, ANY_BYTE);
  const slash = rest.indexOf("/", 2);
  const [authority, path] = slash < 0 ? [rest.slice(2), ""] : [rest.slice(2, slash), rest.slice(slash)];
  return isAuthority(authority, scheme.toLowerCase()) && isEscaped(path, ANY_BYTE);
}

function isAuthority(text: string, scheme: string): boolean {
  const at = text.lastIndexOf("@");
  if (!isHost(text.slice(at + 1), scheme)) return false;
  if (at < 0) return true;
  const user = text.slice(0, at);
  return /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) && isEscaped(user, ANY_BYTE);
}

function isHost(host: string, scheme: string): boolean {
  const bracket = host.lastIndexOf("[");
  if (bracket > 0) return false;
  if (bracket === 0) return isBracketed(host);
  const first = host.indexOf(":");
  if (first < 0) return isHostText(host);
  const last = host.lastIndexOf(":");
  const colon = scheme === "http" || scheme === "https" ? first : last;
  return isPort(host.slice(colon)) && isHostText(host);
}

/** Whether a host is an IPv6 address in brackets, possibly with a zone after an escaped percent sign. */
function isBracketed(host: string): boolean {
  const end = host.lastIndexOf("]");
  if (end < 0 || !isPort(host.slice(end + 1))) return false;
  const [address = "", ...zone] = host.slice(1, end).split("%25");
  if (!address.includes(":") || !isStrictIp(address)) return false;
  return (
    zone.length === 0 || (zone.join("") !== "" && isEscaped(zone.join("%25"), ZONE_BYTE) && HOST.test(zone.join("")))
  );
}

const isPort = (text: string): boolean => /^(?::\d*)?$/.test(text);

/** The only ASCII characters that a host must escape. */
const HOST = /^[^ #/?@\\^`{|}]*$/;

function isHostText(text: string): boolean {
  return HOST.test(text) && isEscaped(text, HOST_BYTE);
}

/** Whether every percent sign is followed by two digits of a byte that may be escaped here. */
function isEscaped(text: string, byte: RegExp): boolean {
  for (let at = text.indexOf("%"); at >= 0; at = text.indexOf("%", at + 3))
    if (!byte.test(text.slice(at + 1, at + 3))) return false;
  return true;
}

const ANY_BYTE = /^[0-9a-f]{2}$/i;
/** Only non-ASCII bytes, and the percent sign itself. */
const HOST_BYTE = /^(?:25|[89a-f][0-9a-f])$/i;
/** Also a space, and characters that may be unescaped there. */
const ZONE_BYTE = /^(?:2[0-9a-f]|[3-7][0-9a-f]|[89a-f][0-9a-f])$/i;
