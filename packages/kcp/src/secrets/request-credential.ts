import type { TargetCredential } from "../mounts/target.ts";

/** By what requests show who we are, as an upstream takes it. */
export interface RequestCredential {
  /** Flat pairs. */
  readonly headers?: readonly string[];
  /** PEM. */
  readonly cert?: string;
  readonly key?: string;
}

/** Who we are to another API server, as requests show it: a token before a name and password, and a client certificate besides. */
export function requestCredential({ token, basic, cert, key }: TargetCredential): RequestCredential {
  const said =
    token !== undefined
      ? `Bearer ${token}`
      : basic === undefined
        ? undefined
        : `Basic ${Buffer.from(basic).toString("base64")}`;
  return Object.freeze({
    ...(said !== undefined && { headers: Object.freeze(["Authorization", said]) }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
  });
}
