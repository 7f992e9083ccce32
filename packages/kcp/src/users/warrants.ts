import type { Identity } from "@virtual-workspaces/framework";
import { CLUSTER_NAME_EXTRA, KCP_ADMIN_GROUP, SERVICE_ACCOUNT_PREFIX, WARRANT_EXTRA } from "./users.ts";

const NONE: readonly string[] = [];

/** The values of an extra key, none where it is not there. */
export function extraOf({ extra }: Pick<Identity, "extra">, key: string): readonly string[] {
  return Object.hasOwn(extra, key) ? (extra[key] ?? NONE) : NONE;
}

/** Whether somebody is called as a service account is, of whichever logical cluster. */
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

/**
 * Reads one warrant, a value of the extra {@link WARRANT_EXTRA} (kcp's `Warrant`): `{ user, groups, uid, extra }` in JSON, in which
 * all may be missing.
 *
 * @returns `undefined` for what is none
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

/** Writes one as {@link parseWarrant} reads it: without what is empty, but for the user. */
export function formatWarrant({ name, uid, groups, extra }: Identity): string {
  return JSON.stringify({
    user: name,
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
    ...(uid !== "" && { uid }),
  });
}

/**
 * Somebody with one warrant more: a copy, what is given stays as it is. Where the result is impersonated, a shard lets it do what
 * either may, and takes it for the one whom it carries the warrant for in audit, field managers and admission. Whoever asks a
 * shard so must be of `system:masters` there, and has to decide about the caller first: nothing behind it does.
 */
export function withWarrant(identity: Identity, warrant: Identity): Identity {
  const warrants = [...extraOf(identity, WARRANT_EXTRA), formatWarrant(warrant)];
  return { ...identity, extra: { ...identity.extra, [WARRANT_EXTRA]: warrants } };
}

/**
 * Who may do everything in one logical cluster and nothing anywhere else: the warrant by which kcp's views of APIExports and
 * of ours reach bound workspaces, a service account of that logical cluster that does not exist.
 *
 * @param cluster its name, not a path
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
