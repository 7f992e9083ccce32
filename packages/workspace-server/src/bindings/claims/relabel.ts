import type { GroupResource, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Awaitable, CacheLease, Encoded } from "@virtual-workspaces/framework";
import { modify, type Written } from "../../state/modify.ts";
import { withLabels } from "./admit-claims.ts";
import type { ClaimIndex } from "./claim-index.ts";

/** Objects of a kind that claims may be on. */
export interface KeptKind extends Written<object> {
  cache(): Awaitable<CacheLease>;
}

/**
 * Where the objects of a resource are that a logical cluster has: none if there can be none in it, `undefined` when the
 * shard knows no such resource.
 */
export type KindsOf = (cluster: string, resource: GroupResource) => readonly KeptKind[] | undefined;

/** What is relabelled. */
export interface Relabelling {
  readonly cluster: string;
  readonly resource: GroupResource;
  readonly kinds: readonly KeptKind[];
  /** Whose label somebody else sets. */
  readonly except?: ObjectKey | undefined;
  readonly signal: AbortSignal;
}

/**
 * Gives all objects of a resource in a logical cluster the labels of the claims that are accepted now. An object that has
 * them is not written; what was admitted under other claims is waited for. It is harmless when done again.
 *
 * @throws ApiError of the store: some have them, some not yet
 */
export async function relabel(claims: ClaimIndex, of: Relabelling): Promise<void> {
  const { cluster, resource, kinds, except, signal } = of;
  await claims.written(cluster, resource);
  for (const kind of kinds) {
    using lease = await kind.cache();
    await lease.confirm({ signal });
    for (const { key, labels } of objectsOf(lease, cluster)) {
      signal.throwIfAborted();
      if (key.name === except?.name && key.namespace === except.namespace) continue;
      if (claims.corrected({ resource, key, labels }) === labels) continue;
      await modify(kind, key, (object) => {
        const before = object.metadata.labels;
        const corrected = claims.corrected({ resource, key, labels: before });
        return corrected === before ? undefined : withLabels(object, corrected);
      });
    }
  }
}

/** The objects of a logical cluster, as they are in a cache. */
export function* objectsOf({ cache }: CacheLease, cluster: string): Generator<Encoded> {
  const prefix = `${cluster}/`;
  for (const [key, object] of cache.snapshot().objects.entries(prefix)) {
    if (!key.startsWith(prefix)) return;
    yield object;
  }
}
