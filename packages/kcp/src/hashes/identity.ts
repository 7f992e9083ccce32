import { randomBytes } from "node:crypto";
import { sha256 } from "./sha.ts";

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
