import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { ANONYMOUS, authenticatedUser, type Identity, UNAUTHENTICATED, type User } from "@virtual-workspaces/framework";

/** Somebody, as reviews name them: all in one. What is empty is left out, as Kubernetes does. */
export function subjectOf({ name, uid, groups, extra }: Identity): object {
  return {
    user: name,
    ...(uid === "" ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/**
 * Whom a token review names. That somebody is logged in who is called nobody is a contradiction.
 *
 * @throws Error on what is no user
 */
export function userOf(value: unknown): User {
  if (!isJsonObject(value)) throw new Error("there is no user in it");
  const { username: name, uid = "", groups = [], extra = {} } = value;
  if (typeof name !== "string" || name === "") throw new Error("its user has no name");
  if (typeof uid !== "string") throw new Error("the uid of its user is no text");
  if (!isTexts(groups)) throw new Error("the groups of its user are no list of texts");
  if (!isExtra(extra)) throw new Error("the extra of its user is no map of lists of texts");
  if (name === ANONYMOUS || groups.includes(UNAUTHENTICATED)) throw new Error("its user is nobody who has logged in");
  return authenticatedUser({ name, uid, groups, extra });
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isExtra(value: unknown): value is JsonObject & Readonly<Record<string, readonly string[]>> {
  return isJsonObject(value) && Object.values(value).every(isTexts);
}
