import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { type Awaitable, decodeObject } from "@virtual-workspaces/framework/storage";
import { APIS_GROUP, CORE_GROUP } from "@virtual-workspaces/kcp";
import type { ShardContext } from "../../state/context.ts";
import { StoredContent } from "../../state/stored-content.ts";
import type { StoredKind } from "../../state/stored-kinds.ts";

/** A kind served in a logical cluster. */
export interface ContentKind {
  readonly group: string;
  /** Plural of the kind. */
  readonly resource: string;
  /** Whether its objects are in namespaces, and are deleted with these. */
  readonly namespaced: boolean;
  /** Whether it comes from a binding, and its objects are deleted with that. */
  readonly bound: boolean;
  /** Whether it has the verb `delete`. */
  readonly deletable: boolean;
}

/** Content of a logical cluster under deletion. */
export interface Content {
  /** Returns the served kinds, in any order. @throws Error when they are unknown */
  kinds(): Awaitable<readonly ContentKind[]>;
  /**
   * Deletes all objects of a kind, as `deletecollection` with background propagation: those with finalizers stay, marked.
   * Idempotent.
   */
  deleteAll(kind: ContentKind, signal: AbortSignal): Promise<void>;
  /** Returns the remaining objects of a kind, from the store. */
  remaining(kind: ContentKind): Awaitable<readonly Pick<KubeObject, "metadata">[]>;
}

/** Returns the content of a logical cluster. */
export type ContentOf = (cluster: string) => Content;

/** Source of notifications about deleted content. */
export interface ContentChanges {
  /** @param listener receives logical clusters with content under deletion that is or may be gone; must not throw */
  onGone(listener: (cluster: string) => void): Disposable;
}

const RBAC = "rbac.authorization.k8s.io";
const BINDINGS = `apibindings.${APIS_GROUP}`;
/** Kinds deleted last, in this order: until then finalizers may need their permissions. */
const LAST = [`clusterroles.${RBAC}`, `clusterrolebindings.${RBAC}`] as const;
const APART: ReadonlySet<string> = new Set([...LAST, `logicalclusters.${CORE_GROUP}`]);

/** Reason for remaining content. */
export interface Leftover {
  readonly reason: "SomeResourcesRemain" | "DiscoveryFailed" | "ContentDeletionFailed";
  readonly severity: "Info" | "Error";
  readonly message: string;
}

/**
 * Deletes as much content of a logical cluster as possible now: first its own, then its bindings with their objects, then its
 * permissions.
 *
 * @returns the remaining content; `undefined` when it is empty
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
      // A failure must not delay the other kinds.
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

/** Returns kcp's text, with sorted lists. */
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

/** Returns kcp's name: the core group leaves a dot at the end. */
function nameOf({ resource, group }: ContentKind): string {
  return `${resource}.${group}`;
}

/** Time limit of reads of the store, in milliseconds. */
const READ_WITHIN = 60_000;

/** Returns the content of a shard's logical clusters for their deletion. */
export function workspaceContent(
  { kinds }: Pick<ShardContext, "kinds">,
  isBound: (cluster: string, kind: StoredKind) => boolean,
): ContentOf {
  return (cluster) => new WorkspaceContent(cluster, { kinds, isBound });
}

interface ContentSources extends Pick<ShardContext, "kinds"> {
  readonly isBound: (cluster: string, kind: StoredKind) => boolean;
}

class WorkspaceContent implements Content {
  readonly #cluster: string;
  readonly #sources: ContentSources;

  constructor(cluster: string, sources: ContentSources) {
    this.#cluster = cluster;
    this.#sources = sources;
  }

  kinds(): readonly ContentKind[] {
    const { kinds, isBound } = this.#sources;
    return kinds.in(this.#cluster).all.map((kind) => ({
      group: kind.definition.group,
      resource: kind.definition.plural,
      namespaced: kind.definition.scope === "Namespaced",
      bound: isBound(this.#cluster, kind),
      deletable: kind.deletable,
    }));
  }

  async deleteAll(kind: ContentKind, signal: AbortSignal): Promise<void> {
    const [failure] = await this.#only(kind).deleteAll(signal);
    if (failure !== undefined) throw new Error(failure);
  }

  async remaining(kind: ContentKind): Promise<readonly KubeObject[]> {
    const found: KubeObject[] = [];
    const place = { cluster: this.#cluster, namespace: "" };
    for (const { objects } of this.#only(kind).kinds)
      for await (const object of objects.objectsIn(place, { signal: AbortSignal.timeout(READ_WITHIN) }))
        found.push(decodeObject(object));
    return found;
  }

  #only({ group, resource }: ContentKind): StoredContent {
    const { kinds } = this.#sources;
    const except = ({ definition }: StoredKind): boolean =>
      definition.group !== group || definition.plural !== resource;
    return new StoredContent({ kinds, cluster: this.#cluster, except });
  }
}
