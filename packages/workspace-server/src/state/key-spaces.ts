import { createHash } from "node:crypto";
import type { GroupResource } from "@virtual-workspaces/apimachinery";

/** What names of key spaces of custom kinds begin with. */
export const CUSTOM_KEY_SPACES = "kind-";

const DEFINED = "crd-";
const BOUND = "bound-";

/**
 * What the key spaces of a resource begin with, whoever defines it: what is known by its name alone, as the metadata of all
 * that are called so, is in one range of a store.
 */
export function keySpacesOf({ group, resource }: GroupResource): string {
  return `${CUSTOM_KEY_SPACES}${sha256(JSON.stringify([group, resource])).slice(0, 32)}-`;
}

/** The key space of the objects of a CustomResourceDefinition. */
export function definedKeySpace(resource: GroupResource, uid: string): string {
  return `${keySpacesOf(resource)}${DEFINED}${uid}`;
}

/** The uid of the CustomResourceDefinition whose objects are in a key space; `undefined` of others. */
export function definedIn(keySpace: string): string | undefined {
  const [, kind = "", uid] = /^kind-[0-9a-f]*-(crd|bound)-(.*)$/.exec(keySpace) ?? [];
  return kind === "crd" ? uid : undefined;
}

/**
 * The key space of the objects of a resource of an identity, of all workspaces that bind it, by whichever schema. Two
 * identities never share one: what one provider sees, another does not.
 */
export function boundKeySpace(resource: GroupResource, identity: string): string {
  return `${keySpacesOf(resource)}${BOUND}${sha256(identity)}`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
