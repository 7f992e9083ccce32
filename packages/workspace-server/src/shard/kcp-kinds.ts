import type { Admit, Resource, ServedResource } from "@virtual-workspaces/framework";
import {
  LogicalCluster,
  Partition,
  PartitionSet,
  Shard,
  Workspace,
  WorkspaceAuthenticationConfiguration,
  WorkspaceType,
} from "@virtual-workspaces/kcp";
import { admitInOrder } from "./admission.ts";
import type { ShardObjects } from "./objects.ts";

const KINDS: readonly Resource[] = [
  LogicalCluster,
  Shard,
  Workspace,
  WorkspaceType,
  WorkspaceAuthenticationConfiguration,
  Partition,
  PartitionSet,
] as unknown as readonly Resource[];

/** kcp's own kinds, each with the admission that is its own behind that of all. */
export function kcpKinds(
  objects: ShardObjects,
  { admit, own }: { readonly admit: Admit; readonly own: ReadonlyMap<string, Admit> },
): readonly ServedResource[] {
  return KINDS.map((kind) => {
    const its = own.get(kind.plural);
    return kind.serve(objects.of(kind), { admit: its === undefined ? admit : admitInOrder(its, admit) });
  });
}
