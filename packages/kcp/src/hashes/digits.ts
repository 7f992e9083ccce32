const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const BASE = BigInt(DIGITS.length);
const HEX = "hex";

const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x0${Buffer.from(bytes).toString(HEX)}`);

/** The bytes as one number, most significant first, in digits `0-9a-zA-Z`. Leading zero bytes are lost (kcp's `Base62.Bytes`). */
export function base62(bytes: Uint8Array): string {
  let rest = numberOf(bytes);
  let text = "";
  do {
    text = DIGITS.charAt(Number(rest % BASE)) + text;
    rest /= BASE;
  } while (rest > 0n);
  return text;
}

/** The bytes as one number in digits `0-9a-z`, after a `0` for each leading zero byte (kcp's `Base36.BytesPad`). */
export function base36(bytes: Uint8Array): string {
  const first = bytes.findIndex((byte) => byte !== 0);
  if (first === -1) return "0".repeat(bytes.length);
  return "0".repeat(first) + numberOf(bytes).toString(36);
}
