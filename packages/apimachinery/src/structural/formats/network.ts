const LABEL = "[a-zA-Z0-9\\p{S}\\p{L}]";
const HOSTNAME = new RegExp(
  `^(?:${LABEL}(?:-?${LABEL}{0,62})?|(?:${LABEL}(?:(?:${LABEL}|-){0,61}${LABEL})?\\.)+[a-zA-Z\\p{L}]{2,63})$`,
  "u",
);

/** An Internet host name (strfmt's IsHostname): at most 255 bytes, labels of at most 63. */
export function isHostname(text: string): boolean {
  if (text.length > 255 || !HOSTNAME.test(text)) return false;
  const lengths = text.split(".").map(utf8Length);
  return lengths.every((length) => length <= 63) && lengths.reduce((sum, length) => sum + length + 1, -1) <= 255;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** An IPv4 address, zeros in front allowed; also one of IPv6 that ends like one of IPv4. */
export function isIpv4(text: string): boolean {
  return text.includes(".") && isSloppyIp(text);
}

/** An IPv6 address. */
export function isIpv6(text: string): boolean {
  return text.includes(":") && isIpv6Address(text, STRICT);
}

/** An address as Go's net.ParseIP. */
export function isStrictIp(text: string): boolean {
  return text.includes(":") ? isIpv6Address(text, STRICT) : isIpv4Address(text, STRICT);
}

/** A network: an address, and how many of its bits count. */
export function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return false;
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  return isSloppyIp(address) && /^0*\d{1,3}$/.test(bits) && Number(bits) <= (address.includes(":") ? 128 : 32);
}

/** A hardware address of 6, 8 or 20 bytes: pairs of digits with colons or dashes, fours with dots, or none of them. */
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

/** How the parts of an address are written; Kubernetes' own reader takes any number of zeros in front. */
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

/** Groups of up to four digits; `::` once, for one group of zeros or more; the last two may be an IPv4 address. */
function isIpv6Address(text: string, written: Parts): boolean {
  const [before = "", after, more] = text.split("::", 3);
  if (more !== undefined || (after?.startsWith(":") ?? false)) return false;
  const groups = [...groupsOf(before), ...groupsOf(after ?? "")];
  let count = groups.length;
  const last = groups.at(-1);
  if (last?.includes(".")) {
    // The address of IPv4 counts for two groups, and stands at the very end.
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
