import type { AdmitRequest } from "@virtual-workspaces/framework";
import type { ShardState } from "../../state/shard-state.ts";
import { refused } from "./admission-context.ts";

/** Refuses while it is not known yet what there is. */
export type CheckReady = (request: AdmitRequest) => void;

/** Of a shard's workspaces and types. */
export function readiness({ logicalClusters, workspaceTypes }: ShardState): CheckReady {
  let isReady = false;
  const synced = Promise.all([logicalClusters.synced, workspaceTypes.synced]);
  const ready = (): void => {
    isReady = true;
  };
  // A shard that does not start is told of by whoever started it.
  synced.then(ready, () => undefined);
  return (request) => {
    if (!isReady) throw refused(request, "not yet ready to handle request");
  };
}
