// Writer for ASN.1 in its distinguished encoding (ITU-T X.690), as far as certificates need it.

/** Returns a value with its tag and length. */
function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

export const sequence = (...items: readonly Uint8Array[]): Buffer => tagged(0x30, ...items);

export const setOf = (...items: readonly Uint8Array[]): Buffer => tagged(0x31, ...items);

export const octets = (content: Uint8Array): Buffer => tagged(0x04, content);

export const text = (value: string): Buffer => tagged(0x0c, Buffer.from(value));
/** Text of two bytes for each character (BMPString). */
export const bmpText = (value: string): Buffer => tagged(0x1e, Buffer.from(value, "utf16le").swap16());

export const TRUE: Buffer = tagged(0x01, Buffer.from([0xff]));

/** `[number]`, around a value. */
export const explicit = (number: number, value: Uint8Array): Buffer => tagged(0xa0 | number, value);

/** `[number]`, instead of a value's own tag. */
export const implicit = (number: number, content: Uint8Array): Buffer => tagged(0x80 | number, content);

/** Returns a non-negative number from its bytes, most significant first. */
export function integer(bytes: Uint8Array): Buffer {
  let from = 0;
  while (from < bytes.length - 1 && bytes[from] === 0) from++;
  const digits = bytes.subarray(from);
  const sign = (digits[0] ?? 0) >= 0x80 ? [0] : [];
  return tagged(0x02, Buffer.from(sign), digits);
}

/** `unused` is the number of unused low bits in the last byte. */
export const bits = (content: Uint8Array, unused = 0): Buffer => tagged(0x03, Buffer.from([unused]), content);

/** `oid("2.5.4.3")` */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** The short form until 2049, the long one from 2050 (RFC 5280, 4.1.2.5). */
export function time(date: Date): Buffer {
  const digits = `${date
    .toISOString()
    .replace(/\.\d+Z$/, "")
    .replace(/\D/g, "")}Z`;
  return date.getUTCFullYear() < 2050 ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits));
}

/** Returns Base64 between two lines with the label. */
export function pem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  return length < 0x100 ? Buffer.from([0x81, length]) : Buffer.from([0x82, length >> 8, length & 0xff]);
}

function base128(value: number): number[] {
  const high = Math.floor(value / 0x80);
  return high === 0 ? [value] : [...base128(high).map((byte) => byte | 0x80), value % 0x80];
}
