import { createHash } from "node:crypto";

/** The hash that Kubernetes puts into ETags and OpenAPI URLs: SHA-512 in upper-case hexadecimal. */
export function contentHash(content: string | Uint8Array): string {
  return createHash("sha512").update(content).digest("hex").toUpperCase();
}

/** A strong ETag of the content, quotes included. */
export function etagOf(content: string | Uint8Array): string {
  return `"${contentHash(content)}"`;
}

/** Whether an `If-None-Match` header names `etag` (weakly, as RFC 9110 has it), so that the answer is 304. */
export function etagMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  return header.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}
