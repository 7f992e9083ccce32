import { CelError } from "./formatted.ts";

/** IP address (`net.IP`). */
export class Ip {
  readonly family: 4 | 6;
  /** Address as a number. */
  readonly bits: bigint;

  constructor(family: 4 | 6, bits: bigint) {
    this.family = family;
    this.bits = bits;
  }

  equals(other: Ip): boolean {
    return this.family === other.family && this.bits === other.bits;
  }

  /** Returns whether the first bits equal those of `prefix`. */
  startsWith(prefix: bigint, length: number): boolean {
    return this.bits >> BigInt(this.size - length) === prefix;
  }

  get size(): 32 | 128 {
    return this.family === 4 ? 32 : 128;
  }

  toString(): string {
    return this.family === 4 ? ipv4Text(this.bits) : ipv6Text(this.bits);
  }
}

/** Range of addresses (`net.CIDR`). Its address may have bits beyond the prefix. */
export class Cidr {
  readonly address: Ip;
  readonly length: number;

  constructor(address: Ip, length: number) {
    this.address = address;
    this.length = length;
  }

  equals(other: Cidr): boolean {
    return this.length === other.length && this.address.equals(other.address);
  }

  contains(ip: Ip): boolean {
    return ip.family === this.address.family && ip.startsWith(this.#prefix, this.length);
  }

  containsRange(other: Cidr): boolean {
    return this.length <= other.length && this.contains(other.address);
  }

  masked(): Cidr {
    const rest = BigInt(this.address.size - this.length);
    return new Cidr(new Ip(this.address.family, this.#prefix << rest), this.length);
  }

  get #prefix(): bigint {
    return this.address.bits >> BigInt(this.address.size - this.length);
  }

  toString(): string {
    return `${this.address}/${this.length}`;
  }
}

/** Parses an address; zones and IPv4-mapped IPv6 are rejected. Throws a CelError. */
export function parseIp(text: string): Ip {
  const ip = parseAddress(text.replace(/%.+$/s, ""));
  if (ip === undefined) {
    const reason = `ParseAddr(${JSON.stringify(text)}): unable to parse IP`;
    throw new CelError(`IP Address ${JSON.stringify(text)} parse error during conversion from string: ${reason}`);
  }
  if (text.includes("%")) throw new CelError(`IP address ${JSON.stringify(text)} with zone value is not allowed`);
  if (isMapped(ip)) throw new CelError(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`);
  return ip;
}

/** Parses a range. Throws a CelError. */
export function parseCidr(text: string): Cidr {
  const [, addressText = "", lengthText = ""] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const address = addressText === "" ? undefined : parseAddress(addressText);
  const length = Number(lengthText);
  if (address === undefined || length > address.size) {
    const prefix = "network address parse error during conversion from string";
    throw new CelError(`${prefix}: ${prefix}: netip.ParsePrefix(${JSON.stringify(text)}): ${prefixProblem(text)}`);
  }
  if (isMapped(address)) {
    const mapped = `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`;
    throw new CelError(`network address parse error during conversion from string: ${mapped}`);
  }
  return new Cidr(address, length);
}

function prefixProblem(text: string): string {
  if (!text.includes("/")) return "no '/'";
  const slash = text.lastIndexOf("/");
  if (parseAddress(text.slice(0, slash)) === undefined) {
    return `ParseAddr(${JSON.stringify(text.slice(0, slash))}): unable to parse IP`;
  }
  const length = text.slice(slash + 1);
  return /^\d{1,3}$/.test(length) && String(Number(length)) === length
    ? "prefix length out of range"
    : `bad bits after slash: ${JSON.stringify(length)}`;
}

function isMapped(ip: Ip): boolean {
  return ip.family === 6 && ip.startsWith(0xffffn, 96);
}

function parseAddress(text: string): Ip | undefined {
  if (text.length > 64) return undefined;
  const v4 = parseV4(text);
  if (v4 !== undefined) return new Ip(4, v4);
  const v6 = parseV6(text);
  return v6 === undefined ? undefined : new Ip(6, v6);
}

function parseV4(text: string): bigint | undefined {
  const octets = text.split(".");
  const valid =
    octets.length === 4 && octets.every((octet) => /^(?:0|[1-9]\d{0,2})$/.test(octet) && Number(octet) < 256);
  return valid ? octets.reduce((bits, octet) => (bits << 8n) | BigInt(octet), 0n) : undefined;
}

function parseV6(text: string): bigint | undefined {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const embedded = tail === null ? undefined : parseV4(tail[2] ?? "");
  if (tail !== null && embedded === undefined) return undefined;
  const hex = (part: bigint): string => part.toString(16);
  const plain = embedded === undefined ? text : `${tail?.[1]}${hex(embedded >> 16n)}:${hex(embedded & 0xffffn)}`;
  const halves = plain.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], rest = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - rest.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...rest];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

function ipv4Text(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join(".");
}

/** Formats as in RFC 5952, with the longest run of zeros omitted. */
function ipv6Text(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, at) => ((bits >> BigInt(112 - 16 * at)) & 0xffffn).toString(16));
  let best = { at: 0, length: 1 };
  for (let at = 0; at < 8; at++) {
    let length = 0;
    while (groups[at + length] === "0") length++;
    if (length > best.length) best = { at, length };
  }
  if (best.length < 2) return groups.join(":");
  return `${groups.slice(0, best.at).join(":")}::${groups.slice(best.at + best.length).join(":")}`;
}
