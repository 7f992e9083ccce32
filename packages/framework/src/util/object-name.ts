import { createHash } from "node:crypto";
import { nameProblems } from "@virtual-workspaces/apimachinery";

/** Limit of a name (DNS-1123 subdomain), in characters. */
const LONGEST = 253;
/** Hexadecimal digits of the hash: 64 bits. */
const DIGITS = 16;
/** End of the names that this function makes. */
const MADE = new RegExp(`(?:^|-)[0-9a-f]{${DIGITS}}$`);

/**
 * Returns a name for an object with an arbitrary key, such as a path or an e-mail address: `Ann@example.com` becomes
 * `ann-example.com-` and a hash of the key. A key that is a valid name (DNS-1123 subdomain, at most 253 characters) stays as it
 * is, unless it ends like a name that this function makes. The name depends on the key alone, and two keys never have the same
 * name. It does not lead back to the key: keep that in the object, for example in its spec. It may be longer than a label value
 * or a namespace.
 *
 * Security: the hash has 64 bits of SHA-256, so a user who chooses keys cannot find one with the name of a given other key.
 *
 * @example
 * ```ts
 * import { objectName } from "@virtual-workspaces/framework";
 *
 * const source = ["Ann@example.com", "bob"].map((mail) => ({ metadata: { name: objectName(mail) }, spec: { mail } }));
 * ```
 * @see docs/how-to/polled-sources.md
 */
export function objectName(key: string): string {
  if (nameProblems(key).length === 0 && !MADE.test(key)) return key;
  // UTF-16, because UTF-8 has one replacement for all lone surrogates.
  const hash = createHash("sha256").update(key, "utf16le").digest("hex").slice(0, DIGITS);
  const readable = key.toLowerCase().replace(/[^a-z0-9]+/g, (others) => (others === "." ? "." : "-"));
  const start = trimmed(trimmed(readable).slice(0, LONGEST - DIGITS - 1));
  return start === "" ? hash : `${start}-${hash}`;
}

/** Removes the separators, of which no two are adjacent, at both ends. */
function trimmed(text: string): string {
  return text.replace(/^[-.]|[-.]$/g, "");
}
