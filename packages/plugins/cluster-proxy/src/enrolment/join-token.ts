import { randomUUID } from "node:crypto";
import type { ProxyKey } from "../hub/proxy-key.ts";
import { ALGORITHM } from "../hubs/hub-token.ts";
import type { HubAuthority } from "./hub-keys.ts";

/** What a token for a new agent says. */
export interface JoinToken extends ProxyKey {
  /** Of the ClusterProxy. */
  readonly uid: string;
  /** Which token it is, and from now on which enrolment. */
  readonly id: string;
  /** s since 1970, to the millisecond: tokens that are as old as one that was used are good no more. */
  readonly issued: number;
}

/** What tokens of this kind call themselves: no other token is taken for one. */
const JOIN_TYPE = "clusterproxy-join+jwt";
const JOIN_AUDIENCE = "clusterproxy";

/** A token by which one agent, once, gets its certificate. @param seconds how long it is good */
export async function newJoinToken(
  { cluster, name, uid }: ProxyKey & Pick<JoinToken, "uid">,
  { key }: HubAuthority,
  { seconds, now }: { readonly seconds: number; readonly now: Date },
): Promise<{ readonly token: string; readonly expires: Date }> {
  const { SignJWT } = await import("jose");
  const issued = now.getTime() / 1000;
  const token = await new SignJWT({ cluster, name, uid })
    .setProtectedHeader({ alg: ALGORITHM, typ: JOIN_TYPE })
    .setAudience(JOIN_AUDIENCE)
    .setJti(randomUUID())
    .setIssuedAt(issued)
    .setExpirationTime(Math.floor(issued) + seconds)
    .sign(key);
  return { token, expires: new Date((Math.floor(issued) + seconds) * 1000) };
}

/** Whether a text calls itself such a token. */
export const isJoinToken = (typ: unknown): boolean => typ === JOIN_TYPE;

/** What a token says that a hub has signed. `undefined`: nobody has, or its time is over. */
export async function joinTokenOf(
  token: string,
  { certificate }: HubAuthority,
  now: Date,
): Promise<JoinToken | undefined> {
  const { jwtVerify } = await import("jose");
  const terms = { audience: JOIN_AUDIENCE, typ: JOIN_TYPE, algorithms: [ALGORITHM], currentDate: now };
  try {
    const { payload } = await jwtVerify(token, certificate.publicKey, {
      ...terms,
      requiredClaims: ["exp", "iat", "jti"],
    });
    const {
      cluster,
      name,
      uid,
      jti: id = "",
      iat: issued = 0,
    } = payload as Partial<Record<"cluster" | "name" | "uid", string>> & typeof payload;
    return cluster && name && uid ? { cluster, name, uid, id, issued } : undefined;
  } catch {
    return undefined;
  }
}
