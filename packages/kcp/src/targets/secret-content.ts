import { createSecureContext } from "node:tls";
import { isJsonObject, type KubeObject, quote } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import { SecretFault, type SecretKubeconfig, secretKubeconfig } from "./kubeconfig.ts";
import type { RelatedObjects, TargetCredential } from "./target.ts";

/** Connection settings of a target in a Secret. */
export interface SecretContent extends Partial<SecretKubeconfig> {}

/**
 * Reads the connection settings of a target from a Secret: `kubeconfig`, and `token`, `tls.crt` with `tls.key`, and `ca.crt`, which
 * take precedence over the kubeconfig.
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
  if ((cert === "") !== (key === "")) throw new SecretFault("tls.crt and tls.key go together: set both");
  if (/[^\x21-\x7e]/.test(token))
    throw new SecretFault("token: invalid characters: use printable ASCII without spaces");
  if (token === "" && cert === "") return undefined;
  return { ...(token !== "" && { token }), ...(cert !== "" && { cert, key }) };
}

/** Validates PEM early, so that the status reports it and not the first request. */
function checkPem({ ca, cert, key }: { readonly ca: string } & TargetCredential): void {
  if (ca !== "" && !ca.includes("-----BEGIN CERTIFICATE-----"))
    throw new SecretFault("ca.crt: invalid certificates: use PEM");
  try {
    createSecureContext({ ...(ca !== "" && { ca }), ...(cert && key && { cert, key }) });
  } catch {
    throw new SecretFault("cannot use its certificates or key: use PEM, and the key that belongs to the certificate");
  }
}

function dataOf(secret: KubeObject, key: string): string {
  const data = (secret as { readonly data?: unknown }).data;
  const value = isJsonObject(data) ? memberOf(data, key) : undefined;
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : "";
}

/** Reference to a Secret, and the field with the reference. */
export interface SecretPlace {
  /** Name or path of the logical cluster. */
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  /** UID, which excludes a later Secret with the same name. @default any */
  readonly uid?: string | undefined;
  /** Field with the reference: `spec.secretRef`. */
  readonly field: string;
}

/** Reason why the content is not available, for a status, without secrets. */
export interface SecretProblem {
  /** Whether the Secret has not been read yet. */
  readonly isUnknown: boolean;
  readonly reason: "SecretUnknown" | "SecretNotFound" | "SecretInvalid";
  /** Names the Secret, the field with the reference, the problem and the remedy. */
  readonly message: string;
}

/**
 * Returns the target settings of a Secret, which is watched from then on. Security: the author of the reference must be allowed to
 * read it: {@link namedSecrets}.
 */
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
