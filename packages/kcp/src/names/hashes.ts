import { hash, randomBytes } from "node:crypto";

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/** Digits that are converted at a time: the largest number of them that is a safe integer. */
const CHUNK = 8;
const CHUNK_SIZE = BigInt(DIGITS.length ** CHUNK);
const HEX = "hex";

const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x0${Buffer.from(bytes).toString(HEX)}`);

/** Encodes the bytes as one big-endian number in digits `0-9a-zA-Z`. Leading zero bytes are lost (kcp's `Base62.Bytes`). */
export function base62(bytes: Uint8Array): string {
  let rest = numberOf(bytes);
  let text = "";
  for (; rest >= CHUNK_SIZE; rest /= CHUNK_SIZE) text = digitsOf(Number(rest % CHUNK_SIZE)).padStart(CHUNK, "0") + text;
  return digitsOf(Number(rest)) + text;
}

function digitsOf(number: number): string {
  let text = "";
  let rest = number;
  do {
    text = DIGITS.charAt(rest % DIGITS.length) + text;
    rest = Math.floor(rest / DIGITS.length);
  } while (rest > 0);
  return text;
}

/** Encodes the bytes as one number in digits `0-9a-z`, after a `0` for each leading zero byte (kcp's `Base36.BytesPad`). */
export function base36(bytes: Uint8Array): string {
  const first = bytes.findIndex((byte) => byte !== 0);
  if (first === -1) return "0".repeat(bytes.length);
  return "0".repeat(first) + numberOf(bytes).toString(36);
}

/** Returns the SHA-224 of bytes, or of a string as UTF-8. */
export const sha224 = (input: string | Uint8Array): Buffer => hash("sha224", input, "buffer");

/** Returns the SHA-256 of bytes, or of a string as UTF-8. */
const sha256 = (input: string | Uint8Array): Buffer => hash("sha256", input, "buffer");

/** Maximum number of results that {@link remembered} keeps. */
const REMEMBERED = 256;

/**
 * Returns a function that computes the result of each text once, while it is among the most recent ones: a server hashes the
 * same few exports and types for each workspace.
 *
 * @param compute must depend on the text alone; callers share its result
 */
export function remembered<T>(compute: (text: string) => T): (text: string) => T {
  const results = new Map<string, T>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    if (results.size >= REMEMBERED) results.delete(results.keys().next().value as string);
    const result = compute(text);
    results.set(text, result);
    return result;
  };
}

/** Encodes JSON byte for byte as Go's encoding/json, which escapes five more characters. */
export const goJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const KEY_BYTES = 32;

/**
 * Returns the identity hash of an APIExport, SHA-256 in hex (kcp's `IdentityHash`). `status.identityHash` shows it, and requests
 * for its resources name it (`/apis/<group>/<version>/<resource>:<identityHash>`).
 *
 * @param key decoded value of `key` in the identity Secret. The caller must reject an empty key
 */
export const identityHash = (key: string | Uint8Array): string => sha256(key).toString("hex");

/**
 * Returns a key for a new identity Secret: 256 random bits, in base64url (kcp's `Random256BitsString`). Security: a user who knows
 * it can create an export with the same identity, so store it only in a Secret.
 */
export const newIdentityKey = (): string => randomBytes(KEY_BYTES).toString("base64url");

const SHARD_HASH_LENGTH = 8;

/** Returns the annotation value of `internal.tenancy.kcp.io/shard` for workspaces on this shard. */
export const shardHash: (shard: string) => string = remembered((shard) =>
  base36(sha224(shard)).slice(0, SHARD_HASH_LENGTH),
);
