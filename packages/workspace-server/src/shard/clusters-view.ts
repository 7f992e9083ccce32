import { defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Shard } from "./shard.ts";

/** The logical clusters of a shard, under `/clusters/<name or path>`, and all of them at once under `/clusters/*`. */
export function clustersView(shard: Shard): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "clusters",
    prefix: "/clusters",
    path: "/:cluster",
    wildcard: true,
    locate: (said) => shard.context.installation.locate(said, shard.context.name),
    authorize: shard.authorizer,
    resources: ({ params }) => shard.servedIn(params.cluster),
    ready: () => shard.started,
  });
}
