import { randomUUID } from "node:crypto";
import type { ProxyKey } from "../protocol/proxy-key.ts";
import type { HubAuthority } from "./hub-keys.ts";

const ALGORITHM = "ES256";
/** Type of hub tokens. Security: tokens of other types are not accepted. */
const HUB_TYPE = "clusterproxy-hub+jwt";
/** Lifetime of a token, and the time for which it is reused, s. */
const LIFETIME = 60;
const USED = 30;
/** Tolerance for clock differences, s. */
const TOLERANCE = 30;

const audienceOf = (id: string): string => `clusterproxy-hub:${id}`;

/** Reports whether a token type is that of a hub. */
export const isHubToken = (typ: unknown): boolean => typ === HUB_TYPE;

/** Tokens between hubs. The hubs' key signs them, and each is for one recipient. */
export class HubTokens {
  readonly #self: string;
  readonly #now: () => Date;
  readonly #made = new Map<string, { readonly token: string; readonly until: number }>();

  constructor(self: string, now: () => Date) {
    this.#self = self;
    this.#now = now;
  }

  /** Returns a token for another hub, reused for a while. */
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

  /** Forgets a hub that is gone. */
  forget(id: string): void {
    this.#made.delete(id);
  }

  /** Returns the hub that sent a token to this one; `undefined` if it is invalid or expired. */
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

/** Claims of a token for a new agent. */
export interface JoinToken extends ProxyKey {
  /** UID of the ClusterProxy. */
  readonly uid: string;
  /** Id of the token, and later of the enrollment. */
  readonly id: string;
  /** Time of issue, s since 1970 with milliseconds. A used token invalidates all that are not newer. */
  readonly issued: number;
}

/** Type of these tokens. Security: tokens of other types are not accepted. */
const JOIN_TYPE = "clusterproxy-join+jwt";
const JOIN_AUDIENCE = "clusterproxy";

/** Returns a token with which one agent gets its certificate, once. @param seconds lifetime */
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

/** Reports whether a token type is that of a join token. */
export const isJoinToken = (typ: unknown): boolean => typ === JOIN_TYPE;

/** Returns the claims of a token that a hub has signed; `undefined` if it is invalid or expired. */
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
