import { createHash, randomBytes } from "node:crypto";

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

/** SHA-224 of bytes, or of a text as UTF-8. */
export const sha224 = (input: string | Uint8Array): Buffer => createHash("sha224").update(input).digest();

/** SHA-256 of bytes, or of a text as UTF-8. */
const sha256 = (input: string | Uint8Array): Buffer => createHash("sha256").update(input).digest();

/** JSON as Go's encoding/json writes it, to the byte: five characters are escapes there. */
export const goJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const KEY_BYTES = 32;

/**
 * The identity hash of an APIExport, which its `status.identityHash` shows and requests for its resources name
 * (`/apis/<group>/<version>/<resource>:<identityHash>`): SHA-256 in hex (kcp's `IdentityHash`).
 *
 * @param key what the identity secret holds under `key`, decoded; empty is no identity, and for the caller to refuse
 */
export const identityHash = (key: string | Uint8Array): string => sha256(key).toString("hex");

/**
 * A key for a new identity secret: 256 random bits, in base64url (kcp's `Random256BitsString`). Whoever knows it can make
 * an export that passes for this one: it belongs in a Secret and nowhere else.
 */
export const newIdentityKey = (): string => randomBytes(KEY_BYTES).toString("base64url");

const SHARD_HASH_LENGTH = 8;

/** The value of the annotation `internal.tenancy.kcp.io/shard` of workspaces on this shard. */
export const shardHash = (shard: string): string => base36(sha224(shard)).slice(0, SHARD_HASH_LENGTH);
