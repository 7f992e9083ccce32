import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import type { Identity } from "@virtual-workspaces/framework";
import type { LogicalClusterSpec } from "@virtual-workspaces/kcp";
import { OWNER_ANNOTATION } from "@virtual-workspaces/kcp/names";

/** A user as objects tell of one (authentication.k8s.io UserInfo). */
export type OwnerUser = NonNullable<LogicalClusterSpec["createdBy"]>;

/** The ClusterRoleBinding by which whoever made a logical cluster is its administrator. */
export const OWNER_BINDING = "workspace-admin";

/** A user for `spec.createdBy`: what is empty is left out. */
export function ownerUser({ name, uid, groups, extra }: Identity): OwnerUser {
  const sorted = Object.entries(extra).sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    ...(name !== "" && { username: name }),
    ...(uid !== "" && { uid }),
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(sorted.length > 0 && { extra: Object.fromEntries(sorted.map(([key, values]) => [key, [...values]])) }),
  };
}

/** The value of the annotation that names the owner. */
export function ownerText(user: Identity): string {
  return JSON.stringify(ownerUser(user));
}

/** What is left of it once it has served: the name. */
function ownerNameText({ username }: OwnerUser): string {
  return JSON.stringify(username === undefined ? {} : { username });
}

/** Annotations in which the owner's groups are no more, once they have served; one that is not to be read goes. */
export function withOwnersName(
  annotations: Readonly<Record<string, string>> | undefined,
): Record<string, string> | undefined {
  const owner = annotations?.[OWNER_ANNOTATION];
  if (owner === undefined) return annotations;
  const { [OWNER_ANNOTATION]: _owner, ...others } = annotations ?? {};
  const user = parseOwner(owner);
  return user === undefined ? others : { ...others, [OWNER_ANNOTATION]: ownerNameText(user) };
}

/** Who the annotation says; `undefined` when it is not to be read. */
export function parseOwner(text: string | undefined): OwnerUser | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && isOwner(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isOwner({ username, uid, groups, extra }: JsonObject): boolean {
  const isText = (value: unknown): boolean => value === undefined || typeof value === "string";
  return (
    isText(username) &&
    isText(uid) &&
    isTexts(groups) &&
    (extra === undefined || (isJsonObject(extra) && Object.values(extra).every(isTexts)))
  );
}

function isTexts(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every((text) => typeof text === "string"));
}
