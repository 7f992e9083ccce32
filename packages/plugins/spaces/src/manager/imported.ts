import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { quote } from "@virtual-workspaces/apimachinery";
import type { Store } from "@virtual-workspaces/client";
import { SecretFault, secretKubeconfig } from "@virtual-workspaces/kcp";
import type { SecretContent } from "../kinds/built-in.ts";
import { kubeconfigIn } from "../kinds/kubeconfig-secret.ts";
import { type AccessScope, KUBECONFIG_KEY, secretName } from "../kinds/names.ts";
import type { Space, SpaceStatus } from "../kinds/space.ts";
import { REFERENCES, scopesOf } from "./access-secrets.ts";

/** What there is of the Secrets that somebody has for an imported Space. */
export interface ImportedAccess {
  readonly references: Pick<SpaceStatus, "inClusterSecretRef" | "externalSecretRef">;
  /** What is wrong, and the remedy; `undefined`: nothing. */
  readonly problem: string | undefined;
}

/** Looks at the Secrets of an imported Space: in its own namespace, as whoever makes it may not be able to read others. What they lead to is not asked. */
export function importedAccess(space: Space, secrets: Store<ObjectOf<SecretContent>>): ImportedAccess {
  const { namespace = "" } = space.metadata;
  const references: Record<string, { name: string; namespace: string }> = {};
  const problems: string[] = [];
  for (const { scope, field, name } of importedSecrets(space)) {
    const about = `the Secret ${quote(`${namespace}/${name}`)} (spec.${field})`;
    const text = kubeconfigIn(secrets.get({ namespace, name }));
    if (text === undefined) problems.push(`${about} is not there, or has no ${KUBECONFIG_KEY}`);
    else if (faultOf(text) !== undefined) problems.push(`${about}: ${faultOf(text)}`);
    else references[REFERENCES[scope]] = { name, namespace };
  }
  return { references, problem: problems.length > 0 ? problems.join("; ") : undefined };
}

/** A Secret that an imported Space names, and by which field. */
export interface ImportedSecret {
  readonly scope: AccessScope;
  readonly field: "inClusterSecretName" | "externalSecretName";
  readonly name: string;
}

/** Which Secrets it names. */
export function importedSecrets(space: Space): readonly ImportedSecret[] {
  const { metadata, spec } = space;
  return scopesOf(space).map((scope) => {
    const field = FIELDS[scope];
    return { scope, field, name: spec[field] ?? secretName(scope, metadata.name ?? "") };
  });
}

const FIELDS = { incluster: "inClusterSecretName", external: "externalSecretName" } as const;

function faultOf(text: string): string | undefined {
  try {
    secretKubeconfig(text);
    return undefined;
  } catch (error) {
    if (error instanceof SecretFault) return error.message;
    throw error;
  }
}
