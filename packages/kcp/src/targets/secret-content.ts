import { createSecureContext } from "node:tls";
import { isJsonObject, type KubeObject, quote } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import { SecretFault, type SecretKubeconfig, secretKubeconfig } from "./kubeconfig.ts";
import type { RelatedObjects, TargetCredential } from "./target.ts";

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

/** Which Secret, and which field names it. */
export interface SecretPlace {
  /** By name, or by path. */
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  /** Another one of its name is not meant. @default any */
  readonly uid?: string | undefined;
  /** `spec.secretRef`. */
  readonly field: string;
}

/** Why there is nothing that a Secret says: for a status, without anything secret. */
export interface SecretProblem {
  /** Whether it is only that nobody has read it yet. */
  readonly isUnknown: boolean;
  readonly reason: "SecretUnknown" | "SecretNotFound" | "SecretInvalid";
  /** Names the Secret, the field that names it, what is wrong and the remedy. */
  readonly message: string;
}

/** What a Secret says of another API server and of who we are there; it is followed from then on. Whoever may write the reference must be able to read it: {@link namedSecrets}. */
export function secretAt(
  { cluster, namespace, name, uid, field }: SecretPlace,
  related: RelatedObjects,
): SecretContent | SecretProblem {
  const about = `Secret ${quote(`${namespace}/${name}`)} (${field})`;
  const found = related.get({ cluster, apiVersion: "v1", kind: "Secret", namespace, name });
  if (found.state === "unknown")
    return { isUnknown: true, reason: "SecretUnknown", message: `${about} has not been read yet` };
  if (found.state !== "found" || (uid !== undefined && found.object.metadata.uid !== uid))
    return { isUnknown: false, reason: "SecretNotFound", message: `${about} not found` };
  try {
    return secretContent(found.object);
  } catch (error) {
    if (!(error instanceof SecretFault)) throw error;
    return { isUnknown: false, reason: "SecretInvalid", message: `${about}: ${error.message}` };
  }
}
