import { randomUUID } from "node:crypto";
import type { ProxyKey } from "../protocol/proxy-key.ts";
import type { HubAuthority } from "./hub-keys.ts";

const ALGORITHM = "ES256";
/** What tokens of hubs call themselves: no other token is taken for one. */
const HUB_TYPE = "clusterproxy-hub+jwt";
/** How long one is good, and for how much of that it is used, s. */
const LIFETIME = 60;
const USED = 30;
/** Whose clocks agree no better, s. */
const TOLERANCE = 30;

const audienceOf = (id: string): string => `clusterproxy-hub:${id}`;

/** Whether a text calls itself such a token. */
export const isHubToken = (typ: unknown): boolean => typ === HUB_TYPE;

/** By what one hub is known to another: whoever has the key of hubs is one, and the token is for that one alone. */
export class HubTokens {
  readonly #self: string;
  readonly #now: () => Date;
  readonly #made = new Map<string, { readonly token: string; readonly until: number }>();

  constructor(self: string, now: () => Date) {
    this.#self = self;
    this.#now = now;
  }

  /** For another hub; the same for a while. */
  async for(id: string, { key }: HubAuthority): Promise<string> {
    const seconds = Math.floor(this.#now().getTime() / 1000);
    const before = this.#made.get(id);
    if (before !== undefined && before.until > seconds) return before.token;
    const { SignJWT } = await import("jose");
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: ALGORITHM, typ: HUB_TYPE })
      .setIssuer(this.#self)
      .setAudience(audienceOf(id))
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + LIFETIME)
      .sign(key);
    this.#made.set(id, { token, until: seconds + USED });
    return token;
  }

  /** A hub has gone. */
  forget(id: string): void {
    this.#made.delete(id);
  }

  /** Which hub has sent one to this. `undefined`: none has, or it is too late. */
  async of(token: string, { certificate }: HubAuthority): Promise<string | undefined> {
    const { jwtVerify } = await import("jose");
    try {
      const { payload } = await jwtVerify(token, certificate.publicKey, {
        audience: audienceOf(this.#self),
        typ: HUB_TYPE,
        algorithms: [ALGORITHM],
        requiredClaims: ["exp", "iat", "iss"],
        maxTokenAge: LIFETIME,
        currentDate: this.#now(),
        clockTolerance: TOLERANCE,
      });
      return payload.iss;
    } catch {
      return undefined;
    }
  }
}

/** What a token for a new agent says. */
export interface JoinToken extends ProxyKey {
  /** Of the ClusterProxy. */
  readonly uid: string;
  /** Which token it is, and from now on which enrolment. */
  readonly id: string;
  /** s since 1970, to the millisecond: tokens that are as old as one that was used are good no more. */
  readonly issued: number;
}

/** What these tokens call themselves: no other token is taken for one. */
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
