import { createHash } from "node:crypto";
import { apiVersionOf, type ObjectOf, quote } from "@virtual-workspaces/apimachinery";
import type { Client, Store } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import { SecretFault, type SecretKubeconfig, secretKubeconfig } from "@virtual-workspaces/kcp/targets";
import {
  ACCESS_ANNOTATION,
  type AccessScope,
  KUBECONFIG_KEY,
  labelOf,
  PROVIDER_LABEL,
  SPACE_LABEL,
  secretName,
} from "../kinds/names.ts";
import { kubeconfigIn, SECRET, type SecretContent } from "../kinds/secret.ts";
import { SECRET_REFERENCES, Space, type SpaceStatus } from "../kinds/space.ts";
import type { SpaceAccess } from "../provider/provider.ts";
import { accessDigest, type ImportedAccess } from "./space-probes.ts";

type Secret = ObjectOf<SecretContent>;

/** Error for another object with the name of an access Secret. */
export class SecretTaken extends Error {}

const SCOPES: Readonly<Record<NonNullable<Space["spec"]["accessscopetype"]>, readonly AccessScope[]>> = {
  InCluster: ["incluster"],
  External: ["external"],
  Both: ["incluster", "external"],
};

/** Returns the scopes that a Space asks for. */
const scopesOf = ({ spec }: Space): readonly AccessScope[] => SCOPES[spec.accessscopetype ?? "Both"];

type References = Pick<SpaceStatus, "inClusterSecretRef" | "externalSecretRef">;

/** Desired contents of the Secrets. */
interface Publication {
  /** Version of the access. */
  readonly version: string;
  readonly ask: () => Promise<SpaceAccess>;
  readonly signal: AbortSignal;
}

/** Access Secrets of Spaces: `incluster-<space>` and `external-<space>`, in the Space's namespace and owned by the Space. */
export class AccessSecrets {
  readonly #client: Client;
  readonly #known: Store<Secret>;

  constructor(client: Client, known: Store<Secret>) {
    this.#client = client;
    this.#known = known;
  }

  /**
   * Creates or updates the Secrets and deletes those that are not needed. Calls the provider only if a Secret has another version.
   *
   * @param version version of the access
   * @returns the references
   * @throws ApiError; SecretTaken; errors of `ask`
   */
  async publish(space: Space, { version, ask, signal }: Publication): Promise<References> {
    const { name = "", namespace = "" } = space.metadata;
    const wanted = scopesOf(space);
    const stale = wanted.filter((scope) => !this.#isCurrent(space, scope, version));
    if (stale.length > 0) {
      const access = await ask();
      for (const scope of stale) {
        const kubeconfig = access[scope] ?? access.incluster ?? access.external ?? "";
        await this.#write(secretOf(space, { scope, version, kubeconfig }), signal);
      }
    }
    const unwanted = SCOPES.Both.filter((scope) => !wanted.includes(scope));
    await this.#delete(space, unwanted, signal);
    return Object.fromEntries(
      wanted.map((scope) => [SECRET_REFERENCES[scope], { name: secretName(scope, name), namespace }]),
    );
  }

  #isCurrent(space: Space, scope: AccessScope, version: string): boolean {
    const { name = "", namespace = "" } = space.metadata;
    const there = this.#known.get({ namespace, name: secretName(scope, name) });
    const data = there?.data?.[KUBECONFIG_KEY];
    if (there === undefined || data === undefined) return false;
    const { ownerReferences: [owner] = [], annotations } = there.metadata;
    return owner?.uid === space.metadata.uid && annotations?.[ACCESS_ANNOTATION] === `${version} ${digestOf(data)}`;
  }

  /** Deletes the Secrets. */
  withdraw(space: Space, signal: AbortSignal): Promise<void> {
    return this.#delete(space, SCOPES.Both, signal);
  }

  async #write(secret: Secret, signal: AbortSignal): Promise<void> {
    const { name = "", namespace = "" } = secret.metadata;
    const secrets = this.#client.resource(SECRET).in(namespace);
    // The cache may be stale: a later event repeats this.
    const before = this.#known.get({ namespace, name });
    if (before === undefined) {
      await secrets.create(secret, { signal });
      return;
    }
    if (before.metadata.labels?.[SPACE_LABEL] !== secret.metadata.labels?.[SPACE_LABEL])
      throw new SecretTaken(
        `the Secret ${namespace}/${name} already exists and does not belong to this Space: delete it, or rename the Space`,
      );
    const { resourceVersion = "" } = before.metadata;
    await secrets.update({ ...secret, metadata: { ...secret.metadata, resourceVersion } }, { signal });
  }

  async #delete(space: Space, scopes: readonly AccessScope[], signal: AbortSignal): Promise<void> {
    const { name: of = "", namespace = "" } = space.metadata;
    for (const scope of scopes) {
      const name = secretName(scope, of);
      const there = this.#known.get({ namespace, name });
      if (there?.metadata.labels?.[SPACE_LABEL] !== labelOf(of)) continue;
      const { uid = "" } = there.metadata;
      const gone = this.#client.resource(SECRET).in(namespace).delete(name, { signal, preconditions: { uid } });
      await gone.catch(onCode<unknown>(404, () => undefined));
    }
  }
}

interface SecretParts {
  readonly scope: AccessScope;
  readonly version: string;
  readonly kubeconfig: string;
}

function secretOf({ metadata, spec }: Space, { scope, version, kubeconfig }: SecretParts): Secret {
  const { name = "", namespace = "", uid = "" } = metadata;
  const { SpaceProviderDescName: provider } = spec;
  const data = Buffer.from(kubeconfig).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: "Opaque",
    metadata: {
      name: secretName(scope, name),
      namespace,
      labels: { [SPACE_LABEL]: labelOf(name), ...(provider !== undefined && { [PROVIDER_LABEL]: labelOf(provider) }) },
      annotations: { [ACCESS_ANNOTATION]: `${version} ${digestOf(data)}` },
      ownerReferences: [{ apiVersion: apiVersionOf(Space), kind: Space.kind, name, uid, controller: true }],
    },
    data: { [KUBECONFIG_KEY]: data },
  };
}

const digestOf = (data: string): string => createHash("sha256").update(data).digest("hex").slice(0, 32);

/** Contents of the Secrets of an imported Space. */
interface ImportedSecrets {
  readonly references: Pick<SpaceStatus, "inClusterSecretRef" | "externalSecretRef">;
  /** Access by scope. */
  readonly accesses: Partial<Readonly<Record<AccessScope, ImportedAccess>>>;
  /** Problem with its remedy; `undefined` if there is none. */
  readonly problem: string | undefined;
}

/**
 * Validates the Secrets of an imported Space, without connecting to their servers. Security: they are in its own namespace, since its
 * creator may not be allowed to read others.
 */
export function importedAccess(space: Space, secrets: Store<ObjectOf<SecretContent>>): ImportedSecrets {
  const { namespace = "" } = space.metadata;
  const references: Record<string, { name: string; namespace: string }> = {};
  const accesses: Partial<Record<AccessScope, ImportedAccess>> = {};
  const problems: string[] = [];
  for (const { scope, field, name } of importedSecrets(space)) {
    const about = `the Secret ${quote(`${namespace}/${name}`)} (spec.${field})`;
    const secret = secrets.get({ namespace, name });
    const text = kubeconfigIn(secret);
    const config = text === undefined ? undefined : configOf(text);
    if (config === undefined) problems.push(`${about} does not exist or has no ${KUBECONFIG_KEY}`);
    else if (config instanceof SecretFault) problems.push(`${about}: ${config.message}`);
    else {
      references[SECRET_REFERENCES[scope]] = { name, namespace };
      accesses[scope] = { config, digest: accessDigest(config, secret?.metadata.uid ?? "") };
    }
  }
  return { references, accesses, problem: problems.length > 0 ? problems.join("; ") : undefined };
}

/** Secret that an imported Space references, with the field of the reference. */
interface ImportedSecret {
  readonly scope: AccessScope;
  readonly field: "inClusterSecretName" | "externalSecretName";
  readonly name: string;
}

/** Returns the Secrets that an imported Space references. */
export function importedSecrets(space: Space): readonly ImportedSecret[] {
  const { metadata, spec } = space;
  return scopesOf(space).map((scope) => {
    const field = FIELDS[scope];
    return { scope, field, name: spec[field] ?? secretName(scope, metadata.name ?? "") };
  });
}

const FIELDS = { incluster: "inClusterSecretName", external: "externalSecretName" } as const;

function configOf(text: string): SecretKubeconfig | SecretFault {
  try {
    return secretKubeconfig(text);
  } catch (error) {
    if (error instanceof SecretFault) return error;
    throw error;
  }
}
