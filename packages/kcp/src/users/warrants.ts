import type { Identity } from "@virtual-workspaces/framework";
import { CLUSTER_NAME_EXTRA, KCP_ADMIN_GROUP, SERVICE_ACCOUNT_PREFIX, WARRANT_EXTRA } from "./users.ts";

const NONE: readonly string[] = [];

/** Returns the values of an extra key, empty without it. */
export function extraOf({ extra }: Pick<Identity, "extra">, key: string): readonly string[] {
  return Object.hasOwn(extra, key) ? (extra[key] ?? NONE) : NONE;
}

/** Returns whether an identity has the name of a service account, of any logical cluster. */
export function isServiceAccount({ name }: Pick<Identity, "name">): boolean {
  return name.startsWith(SERVICE_ACCOUNT_PREFIX);
}

/**
 * Returns the warrants of an identity, without those that the warrants contain. Invalid warrants are ignored, as are those for a
 * service account without a logical cluster. Each nesting level escapes the next, so the longest header holds about a dozen.
 */
export function warrantsOf(identity: Pick<Identity, "extra">): readonly Identity[] {
  return extraOf(identity, WARRANT_EXTRA).flatMap((text) => {
    const warrant = parseWarrant(text);
    if (warrant === undefined) return [];
    return isServiceAccount(warrant) && extraOf(warrant, CLUSTER_NAME_EXTRA).length === 0 ? [] : [warrant];
  });
}

/**
 * Parses a warrant, a value of the extra {@link WARRANT_EXTRA} (kcp's `Warrant`): `{ user, groups, uid, extra }` in JSON, all
 * optional.
 *
 * @returns `undefined` for an invalid warrant
 */
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

/** Formats a warrant for {@link parseWarrant}, without empty fields except the user. */
export function formatWarrant({ name, uid, groups, extra }: Identity): string {
  return JSON.stringify({
    user: name,
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
    ...(uid !== "" && { uid }),
  });
}

/**
 * Returns a copy of an identity with one more warrant. When a caller impersonates the result, the shard allows what either may do,
 * and uses the identity, not the warrant, for audit, field managers and admission. Security: the caller needs `system:masters` on
 * the shard and must authorize the user first, since the shard does not.
 */
export function withWarrant(identity: Identity, warrant: Identity): Identity {
  const warrants = [...extraOf(identity, WARRANT_EXTRA), formatWarrant(warrant)];
  return { ...identity, extra: { ...identity.extra, [WARRANT_EXTRA]: warrants } };
}

/**
 * Returns an identity with all rights in one logical cluster and none elsewhere: a service account of that logical cluster that
 * does not exist. kcp's views of APIExports and ours use this warrant to access bound workspaces.
 *
 * @param cluster name of the logical cluster, not a path
 */
export function contentWarrant(cluster: string): Identity {
  const extra = { [CLUSTER_NAME_EXTRA]: [cluster] };
  return { name: `${SERVICE_ACCOUNT_PREFIX}default:rest`, uid: "", groups: [KCP_ADMIN_GROUP], extra };
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
