import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { APIS_GROUP, CORE_GROUP } from "@virtual-workspaces/kcp";
import type { Content, ContentKind } from "./content.ts";

const RBAC = "rbac.authorization.k8s.io";
const BINDINGS = `apibindings.${APIS_GROUP}`;
/** What is deleted last, or by itself: until then somebody may have to do something there. */
const LAST = [`clusterroles.${RBAC}`, `clusterrolebindings.${RBAC}`] as const;
const APART: ReadonlySet<string> = new Set([...LAST, `logicalclusters.${CORE_GROUP}`]);

/** Why content is still there. */
export interface Leftover {
  readonly reason: "SomeResourcesRemain" | "DiscoveryFailed" | "ContentDeletionFailed";
  readonly severity: "Info" | "Error";
  readonly message: string;
}

/**
 * Deletes what is in a logical cluster, as far as it goes now: first what is its own, then its bindings, with what they
 * brought, then who may do what.
 *
 * @returns what is still there, `undefined` when nothing is
 */
export async function deleteContent(content: Content, signal: AbortSignal): Promise<Leftover | undefined> {
  let kinds: readonly ContentKind[];
  try {
    kinds = await content.kinds();
  } catch (error) {
    return failed("DiscoveryFailed", [error]);
  }
  const own = kinds.filter((kind) => kind.deletable && !kind.namespaced && !kind.bound && !APART.has(nameOf(kind)));
  const rounds = [
    own.filter((kind) => nameOf(kind) !== BINDINGS),
    own.filter((kind) => nameOf(kind) === BINDINGS),
    ...LAST.map((name) => kinds.filter((kind) => nameOf(kind) === name)),
  ];
  for (const round of rounds) {
    const left = await deleteRound(content, round, signal);
    if (left !== undefined) return left;
  }
  return undefined;
}

async function deleteRound(
  content: Content,
  kinds: readonly ContentKind[],
  signal: AbortSignal,
): Promise<Leftover | undefined> {
  const errors: unknown[] = [];
  const left: Remaining[] = [];
  for (const kind of kinds) {
    try {
      if ((await content.remaining(kind)).length === 0) continue;
      await content.deleteAll(kind, signal);
      const objects = await content.remaining(kind);
      if (objects.length > 0) left.push({ kind, objects });
    } catch (error) {
      // One that fails does not hold up the others.
      errors.push(error);
    }
  }
  if (errors.length > 0) return failed("ContentDeletionFailed", errors);
  if (left.length === 0) return undefined;
  return { reason: "SomeResourcesRemain", severity: "Info", message: remainingText(left) };
}

interface Remaining {
  readonly kind: ContentKind;
  readonly objects: readonly Pick<KubeObject, "metadata">[];
}

/** In kcp's words, each list sorted. */
function remainingText(left: readonly Remaining[]): string {
  const kinds = left.map(({ kind, objects }) => `${nameOf(kind)} has ${objects.length} resource instances`).sort();
  const counts = new Map<string, number>();
  for (const { objects } of left) {
    for (const { metadata } of objects) {
      for (const each of metadata.finalizers ?? []) counts.set(each, (counts.get(each) ?? 0) + 1);
    }
  }
  const remain = `Some resources are remaining: ${kinds.join(", ")}`;
  if (counts.size === 0) return remain;
  const holding = [...counts].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`).sort();
  return `${remain}; Some content in the logical cluster has finalizers remaining: ${holding.join(", ")}`;
}

function failed(reason: Leftover["reason"], errors: readonly unknown[]): Leftover {
  const texts = [...new Set(errors.map((error) => (error instanceof Error ? error.message : String(error))))].sort();
  const message = texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
  return { reason, severity: "Error", message };
}

/** With a dot at the end for the core group, as in kcp. */
function nameOf({ resource, group }: ContentKind): string {
  return `${resource}.${group}`;
}
