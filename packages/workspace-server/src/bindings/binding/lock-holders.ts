import type { GroupResource } from "@virtual-workspaces/apimachinery";
import { hasCondition } from "../../crds/definition/conditions.ts";
import type { CrdContent } from "../../crds/definition/definition.ts";
import type { ShardState } from "../../state/shard-state.ts";
import type { Tracked } from "../../state/informers/informer.ts";
import type { Holders } from "./locks.ts";

/** What has resources in a logical cluster, or may have. */
export function holdersIn(
  cluster: string,
  { state, crds }: { readonly state: Pick<ShardState, "apiBindings">; readonly crds: Tracked<CrdContent> },
): Holders {
  const bindings = new Map<string, readonly GroupResource[]>();
  for (const { metadata, status } of state.apiBindings.store.list(cluster))
    bindings.set(metadata.name ?? "", status?.boundResources ?? []);
  const definitions = new Map<string, boolean>();
  for (const { metadata, status } of crds.store.list(cluster))
    definitions.set(metadata.name ?? "", hasCondition(status, "Established"));
  return { bindings, crds: definitions };
}
