import { authenticatedUser, type Identity, type User } from "../user.ts";
import type { Authenticator } from "./authenticator.ts";

/** Who a token stands for. */
export type TokenUser = Partial<Identity> & { readonly name: string };

/**
 * Bearer tokens known beforehand (Kubernetes' static token file). Anyone who learns one is its user: give them to
 * programs of your own, over TLS.
 *
 * @param tokens users by token
 * @throws Error on an empty token or user name
 */
export function staticTokens(tokens: Readonly<Record<string, TokenUser>>): Authenticator {
  const users = new Map<string, User>();
  for (const [token, user] of Object.entries(tokens)) {
    if (token === "" || user.name === "")
      throw new Error("static tokens: neither a token nor a user name may be empty");
    // Header bytes are UTF-8, and Node gives each as a character of its own.
    users.set(Buffer.from(token).toString("latin1"), authenticatedUser(user));
  }
  return {
    name: "static tokens",
    authenticate: ({ headers }) => {
      const token = bearerToken(headers.authorization);
      return token === undefined ? undefined : users.get(token);
    },
  };
}

/** The token of an `Authorization: Bearer` header; the scheme in any case, as Kubernetes reads it. */
function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined || header.length < 8) return undefined;
  if (header.slice(0, 7).toLowerCase() !== "bearer ") return undefined;
  return header.slice(7).trim();
}
