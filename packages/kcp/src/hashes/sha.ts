import { createHash } from "node:crypto";

/** SHA-224 of bytes, or of a text as UTF-8. */
export const sha224 = (input: string | Uint8Array): Buffer => createHash("sha224").update(input).digest();

/** SHA-256 of bytes, or of a text as UTF-8. */
export const sha256 = (input: string | Uint8Array): Buffer => createHash("sha256").update(input).digest();
