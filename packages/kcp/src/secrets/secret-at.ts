import { quote } from "@virtual-workspaces/apimachinery";
import type { RelatedObjects } from "../mounts/target.ts";
import { SecretFault } from "./kubeconfig.ts";
import { type SecretContent, secretContent } from "./secret-content.ts";

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
