import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import type { Identity } from "@virtual-workspaces/framework";
import type { LogicalClusterSpec } from "@virtual-workspaces/kcp";
import { OWNER_ANNOTATION } from "@virtual-workspaces/kcp/names";

/** A user as written into objects (authentication.k8s.io UserInfo). */
export type OwnerUser = NonNullable<LogicalClusterSpec["createdBy"]>;

/** ClusterRoleBinding that makes the owner of a logical cluster its administrator. */
export const OWNER_BINDING = "workspace-admin";

/** Returns a user for `spec.createdBy`, without empty fields. */
export function ownerUser({ name, uid, groups, extra }: Identity): OwnerUser {
  const sorted = Object.entries(extra).sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    ...(name !== "" && { username: name }),
    ...(uid !== "" && { uid }),
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(sorted.length > 0 && { extra: Object.fromEntries(sorted.map(([key, values]) => [key, [...values]])) }),
  };
}

/** Returns the value of the owner annotation. */
export function ownerText(user: Identity): string {
  return JSON.stringify(ownerUser(user));
}

/** Returns the value of the annotation once only the name is needed. */
function ownerNameText({ username }: OwnerUser): string {
  return JSON.stringify(username === undefined ? {} : { username });
}

/** Reduces the owner annotation to the name, when the groups are no longer needed; an invalid one is removed. */
export function withOwnersName(
  annotations: Readonly<Record<string, string>> | undefined,
): Record<string, string> | undefined {
  const owner = annotations?.[OWNER_ANNOTATION];
  if (owner === undefined) return annotations;
  const { [OWNER_ANNOTATION]: _owner, ...others } = annotations ?? {};
  const user = parseOwner(owner);
  return user === undefined ? others : { ...others, [OWNER_ANNOTATION]: ownerNameText(user) };
}

/** Returns the user in the annotation; `undefined` if it is invalid. */
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
