import { authenticatedUser, type Identity } from "../request/user.ts";
import { bearerTokens, type TokenAuthenticator, type TokenVerdict } from "./bearer-tokens.ts";

/** Who a token stands for. */
export type TokenUser = Partial<Identity> & { readonly name: string };

/**
 * Bearer tokens known beforehand (Kubernetes' static token file). Anyone who learns one is its user: give them to
 * programs of your own, over TLS.
 *
 * @param tokens users by token
 * @throws Error on an empty token or user name
 */
export function staticTokens(tokens: Readonly<Record<string, TokenUser>>): TokenAuthenticator {
  const verdicts = new Map<string, TokenVerdict>();
  for (const [token, user] of Object.entries(tokens)) {
    if (token === "" || user.name === "")
      throw new Error("static tokens: neither a token nor a user name may be empty");
    verdicts.set(token, { user: authenticatedUser(user) });
  }
  return bearerTokens({ name: "static tokens", verify: (token) => verdicts.get(token), remember: 0 });
}
