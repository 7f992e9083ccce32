import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { related } from "@virtual-workspaces/client";
import {
  clusterOf,
  lifecycleName,
  type Shard,
  viewURL,
  WorkspaceType,
  type WorkspaceTypeStatus,
} from "@virtual-workspaces/kcp";
import { markTrue, setSummary } from "@virtual-workspaces/kcp/conditions";
import { commit, startController } from "../../controllers/shard-controllers.ts";
import { AllShardsSource, filterUpdates } from "../../controllers/sources.ts";
import type { ShardContext, ShardController } from "../../state/context.ts";
import { allShards } from "../model/shards.ts";

const CONDITION = "VirtualWorkspaceURLsReady";

/** Tells WorkspaceTypes where those who set up and clean up find their workspaces, on each shard (kcp's controller `kcp-workspacetype`). */
export function workspaceTypeController(shard: ShardContext, now: () => Date = () => new Date()): ShardController {
  const { state, objects, registry } = shard;
  const shards = new AllShardsSource<Shard>(registry, (each) => each.state.shards);
  const moved = filterUpdates(shards, (is, was) => baseOf(is) !== baseOf(was));
  const types = state.workspaceTypes;
  return startController<WorkspaceType>(shard, {
    name: "kcp-workspacetype",
    sources: [
      { informer: types },
      related(moved, () =>
        types.store
          .list()
          .map((type): ObjectKey => ({ cluster: clusterOf(type), namespace: "", name: type.metadata.name ?? "" })),
      ),
    ],
    reconcile: async (key, { object: before }) => {
      if (before === undefined) return;
      const { virtualWorkspaces: _, ...others } = before.status ?? {};
      const urls = urlsOf(before, allShards(registry));
      const conditions = setSummary(markTrue(others.conditions, CONDITION, now()), { now: now() });
      const status = { ...others, conditions, ...(urls.length > 0 && { virtualWorkspaces: urls }) };
      await commit(objects.of(WorkspaceType), key, { before, next: { ...before, status } });
    },
  });
}

/** Two of each shard; one whose URL is none is left out, as in kcp. */
function urlsOf(type: WorkspaceType, shards: readonly Shard[]): NonNullable<WorkspaceTypeStatus["virtualWorkspaces"]> {
  const name = lifecycleName({ cluster: clusterOf(type), name: type.metadata.name ?? "" });
  const sorted = [...shards].sort((one, other) => ((one.metadata.name ?? "") < (other.metadata.name ?? "") ? -1 : 1));
  return sorted
    .filter((shard) => URL.canParse(baseOf(shard)))
    .flatMap(
      (shard) =>
        [
          { url: viewURL(baseOf(shard), "initializingworkspaces", name), type: "initializing" },
          { url: viewURL(baseOf(shard), "terminatingworkspaces", name), type: "terminating" },
        ] as const,
    );
}

function baseOf({ spec }: Shard): string {
  return spec?.virtualWorkspaceURL ?? "";
}
