// The proof that an agent in any language sends: a token signed by the key of its certificate, with the certificate in it.
import { createPrivateKey, randomUUID, sign, X509Certificate } from "node:crypto";
import type { KeyPair } from "@virtual-workspaces/framework/tls";

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

/** Returns a proof of possession of an agent's key that is valid for a minute. */
export function newProof({ cert, key }: KeyPair, now: Date): string {
  const x5c = [new X509Certificate(cert).raw.toString("base64")];
  const issued = Math.floor(now.getTime() / 1000);
  const header = encoded({ alg: "ES256", typ: "clusterproxy-agent+jwt", x5c });
  const claims = encoded({ aud: "clusterproxy", jti: randomUUID(), iat: issued, exp: issued + 60 });
  const signature = sign("sha256", Buffer.from(`${header}.${claims}`), {
    key: createPrivateKey(key),
    dsaEncoding: "ieee-p1363",
  });
  return `${header}.${claims}.${signature.toString("base64url")}`;
}
