import { isStrictIp } from "./network.ts";

/** An absolute URI or an absolute path, as Go's url.ParseRequestURI reads it. */
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

/** An address of IPv6, perhaps with a zone behind an escaped percent sign. */
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

/** Of what is ASCII, only these may not stand in a host as they are. */
const HOST = /^[^ #/?@\\^`{|}]*$/;

function isHostText(text: string): boolean {
  return HOST.test(text) && isEscaped(text, HOST_BYTE);
}

/** Whether every percent sign is followed by two digits that give a byte which may be escaped here. */
function isEscaped(text: string, byte: RegExp): boolean {
  for (let at = text.indexOf("%"); at >= 0; at = text.indexOf("%", at + 3))
    if (!byte.test(text.slice(at + 1, at + 3))) return false;
  return true;
}

const ANY_BYTE = /^[0-9a-f]{2}$/i;
/** Only what is not ASCII, and the percent sign itself. */
const HOST_BYTE = /^(?:25|[89a-f][0-9a-f])$/i;
/** A space too, and what may stand there unescaped. */
const ZONE_BYTE = /^(?:2[0-9a-f]|[3-7][0-9a-f]|[89a-f][0-9a-f])$/i;
