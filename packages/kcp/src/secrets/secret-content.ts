import { createSecureContext } from "node:tls";
import { isJsonObject, type KubeObject, memberOf } from "@virtual-workspaces/apimachinery";
import type { TargetCredential } from "../mounts/target.ts";
import { SecretFault, type SecretKubeconfig, secretKubeconfig } from "./kubeconfig.ts";

/** What a Secret has for a target. */
export interface SecretContent extends Partial<SecretKubeconfig> {}

/**
 * What a Secret says of a target: `kubeconfig`, and beside or instead of it `token`, `tls.crt` with `tls.key`, and `ca.crt`, which go
 * before what is in there.
 *
 * @throws SecretFault
 */
export function secretContent(secret: KubeObject): SecretContent {
  const config = dataOf(secret, "kubeconfig");
  const from: SecretContent = config === "" ? {} : secretKubeconfig(config);
  const credential = credentialOf(secret) ?? from.credential;
  const ca = dataOf(secret, "ca.crt") || (from.ca ?? "");
  checkPem({ ca, ...credential });
  return { ...from, ...(ca !== "" && { ca }), ...(credential && { credential }) };
}

function credentialOf(secret: KubeObject): TargetCredential | undefined {
  const token = dataOf(secret, "token").trim();
  const [cert, key] = [dataOf(secret, "tls.crt"), dataOf(secret, "tls.key")];
  if ((cert === "") !== (key === "")) throw new SecretFault("tls.crt and tls.key go together: give both");
  if (/[^\x21-\x7e]/.test(token)) throw new SecretFault("token: it has characters that no token has");
  if (token === "" && cert === "") return undefined;
  return { ...(token !== "" && { token }), ...(cert !== "" && { cert, key }) };
}

/** Told now, in the status, and not when somebody asks. */
function checkPem({ ca, cert, key }: { readonly ca: string } & TargetCredential): void {
  if (ca !== "" && !ca.includes("-----BEGIN CERTIFICATE-----"))
    throw new SecretFault("ca.crt: give certificates as PEM");
  try {
    createSecureContext({ ...(ca !== "" && { ca }), ...(cert && key && { cert, key }) });
  } catch {
    throw new SecretFault(
      "its certificates or key cannot be used: give PEM, and the key that belongs to the certificate",
    );
  }
}

function dataOf(secret: KubeObject, key: string): string {
  const data = (secret as { readonly data?: unknown }).data;
  const value = isJsonObject(data) ? memberOf(data, key) : undefined;
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : "";
}
