import type { Identity } from "@virtual-workspaces/framework";
import { CLUSTER_NAME_EXTRA, WARRANT_EXTRA } from "../well-known/user-extra.ts";
import { SERVICE_ACCOUNT_PREFIX } from "../well-known/users.ts";

const NONE: readonly string[] = [];

/** The values of an extra key. */
export function extraOf({ extra }: Pick<Identity, "extra">, key: string): readonly string[] {
  return Object.hasOwn(extra, key) ? (extra[key] ?? NONE) : NONE;
}

/** Whether somebody is a service account, of whichever logical cluster. */
export function isServiceAccount({ name }: Pick<Identity, "name">): boolean {
  return name.startsWith(SERVICE_ACCOUNT_PREFIX);
}

/**
 * The identities that somebody has warrants for, without those that they have. What is no warrant is none; nor is one for a
 * service account that does not say whose. Each lies escaped within the one around it, so that the longest header holds a
 * dozen levels and no more.
 */
export function warrantsOf(identity: Pick<Identity, "extra">): readonly Identity[] {
  return extraOf(identity, WARRANT_EXTRA).flatMap((text) => {
    const warrant = parseWarrant(text);
    if (warrant === undefined) return [];
    return isServiceAccount(warrant) && extraOf(warrant, CLUSTER_NAME_EXTRA).length === 0 ? [] : [warrant];
  });
}

/** Reads one warrant. @returns `undefined` for what is none */
export function parseWarrant(text: string): Identity | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const { user, uid, groups, extra } = value as Readonly<Record<string, unknown>>;
    if (!isText(user) || !isText(uid) || !isTexts(groups) || !isExtra(extra)) return undefined;
    return { name: user ?? "", uid: uid ?? "", groups: groups ?? [], extra: withoutNulls(extra ?? {}) };
  } catch {
    return undefined;
  }
}

/** Writes one as {@link parseWarrant} reads it. */
export function formatWarrant({ name, uid, groups, extra }: Identity): string {
  return JSON.stringify({
    user: name,
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
    ...(uid !== "" && { uid }),
  });
}

type Maybe<T> = T | null | undefined;

function isText(value: unknown): value is Maybe<string> {
  return value === undefined || value === null || typeof value === "string";
}

function isTexts(value: unknown): value is Maybe<readonly string[]> {
  return (
    value === undefined || value === null || (Array.isArray(value) && value.every((one) => typeof one === "string"))
  );
}

function isExtra(value: unknown): value is Maybe<Readonly<Record<string, Maybe<readonly string[]>>>> {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && !Array.isArray(value) && Object.values(value).every(isTexts);
}

function withoutNulls(extra: Readonly<Record<string, Maybe<readonly string[]>>>): Identity["extra"] {
  return Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, values ?? []]));
}
