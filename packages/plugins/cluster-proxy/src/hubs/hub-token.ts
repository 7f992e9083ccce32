import type { HubAuthority } from "../enrolment/hub-keys.ts";

/** What tokens of this kind call themselves: no other token is taken for one. */
const HUB_TYPE = "clusterproxy-hub+jwt";
export const ALGORITHM = "ES256";
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
