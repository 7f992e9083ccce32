import { createHash } from "node:crypto";
import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Store } from "@virtual-workspaces/client";
import { SecretFault, type SecretKubeconfig, secretKubeconfig } from "@virtual-workspaces/kcp";
import type { SecretContent } from "../kinds/built-in.ts";
import { kubeconfigIn } from "../kinds/kubeconfig-secret.ts";
import type { AccessScope } from "../kinds/names.ts";
import type { SecretRef, Space } from "../kinds/space.ts";
import { REFERENCES } from "../manager/access-secrets.ts";

/** How a space is reached, and by which credential. Secret. */
export type SpaceConfig = SecretKubeconfig;

/** What there is of the access to a Space. */
export type Access =
  | {
      readonly usable: true;
      readonly space: Space;
      readonly id: string;
      readonly config: SpaceConfig;
      /** Of where it is reached, and of everything. */
      readonly digests: { readonly server: string; readonly config: string };
    }
  | { readonly usable: false; readonly reason: string; readonly message: string };

type Secret = ObjectOf<SecretContent>;

/** Which Secret leads to a Space. */
export const secretOf = ({ status }: Space, scope: AccessScope): SecretRef | undefined => status?.[REFERENCES[scope]];

/** Looks at a Space that is there, and at the Secret that leads to it. */
export function accessOf(space: Space, secrets: Store<Secret>, scope: AccessScope): Access {
  const { status, metadata } = space;
  if (status?.Phase !== "Ready") return notReady(space);
  const { namespace = "", name } = secretOf(space, scope) ?? {};
  if (name === undefined) {
    const wanted = scope === "external" ? "External" : "InCluster";
    return unusable("NoAccess", `it is not reached from here: spec.accessscopetype has to be ${wanted}, or Both`);
  }
  const secret = secrets.get({ namespace, name });
  if (secret === undefined) return unusable("SecretNotFound", `the Secret ${namespace}/${name} is not there`);
  const read = readOf(secret);
  if (typeof read === "string") return unusable("SecretInvalid", `the Secret ${namespace}/${name}: ${read}`);
  return { usable: true, space, id: status.spaceID ?? metadata.uid ?? "", ...read };
}

function notReady({ status }: Space): Access {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return unusable(ready?.reason ?? "NotReady", ready?.message || "it is not Ready, and does not say why");
}

const unusable = (reason: string, message: string): Access => ({ usable: false, reason, message });

type Read = Pick<Extract<Access, { usable: true }>, "config" | "digests">;

/** What has been read of Secrets, which are never changed, but replaced. */
const KNOWN = new WeakMap<Secret, Read | string>();

/** What a Secret says, or what is wrong with it. */
function readOf(secret: Secret): Read | string {
  const known = KNOWN.get(secret) ?? fresh(secret);
  KNOWN.set(secret, known);
  return known;
}

function fresh(secret: Secret): Read | string {
  const text = kubeconfigIn(secret);
  if (text === undefined) return "it has no kubeconfig";
  try {
    const config = secretKubeconfig(text);
    const { credential: _, ...server } = config;
    return { config, digests: { server: digestOf(server), config: digestOf(config) } };
  } catch (error) {
    if (error instanceof SecretFault) return error.message;
    throw error;
  }
}

const digestOf = (value: object): string => createHash("sha256").update(JSON.stringify(value)).digest("base64url");
