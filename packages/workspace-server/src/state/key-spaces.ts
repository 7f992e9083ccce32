import { createHash } from "node:crypto";
import type { GroupResource } from "@virtual-workspaces/apimachinery";

/** Prefix of key spaces of custom kinds. */
export const CUSTOM_KEY_SPACES = "kind-";

/** Returns whether the `space` of a collection is the key space of a custom kind. The store marks key spaces with `@`. */
export function isCustomSpace(space: string): boolean {
  return space.startsWith(`@${CUSTOM_KEY_SPACES}`);
}

const DEFINED = "crd-";
const BOUND = "bound-";

/**
 * Returns the common prefix of all key spaces of a resource, whichever CRD or schema defines it. The metadata of all
 * resources of one name is therefore one range of a store.
 */
export function keySpacesOf({ group, resource }: GroupResource): string {
  return `${CUSTOM_KEY_SPACES}${sha256(JSON.stringify([group, resource])).slice(0, 32)}-`;
}

/** Returns the key space of the objects of a CustomResourceDefinition. */
export function definedKeySpace(resource: GroupResource, uid: string): string {
  return `${keySpacesOf(resource)}${DEFINED}${uid}`;
}

/** Returns the uid of the CustomResourceDefinition of a key space; `undefined` for others. */
export function definedIn(keySpace: string): string | undefined {
  const [, kind = "", uid] = /^kind-[0-9a-f]*-(crd|bound)-(.*)$/.exec(keySpace) ?? [];
  return kind === "crd" ? uid : undefined;
}

/**
 * Returns the key space of a resource of an identity, for all workspaces that bind it, with any schema. Security: identities
 * never share one, so a provider sees only its own objects.
 */
export function boundKeySpace(resource: GroupResource, identity: string): string {
  return `${keySpacesOf(resource)}${BOUND}${sha256(identity)}`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
