import { isJsonObject } from "@virtual-workspaces/apimachinery";

/**
 * When a token ends by its own word, ms since 1970, if it is a JSON Web Token and has one. Nobody has checked the signature:
 * good for nothing but to forget it earlier.
 */
export function expiryOf(token: string): number | undefined {
  const parts = token.split(".");
  if (parts.length !== 3) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[1] ?? "", "base64url").toString("utf8"));
    const exp = isJsonObject(claims) ? claims["exp"] : undefined;
    return typeof exp === "number" && Number.isFinite(exp) ? exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
