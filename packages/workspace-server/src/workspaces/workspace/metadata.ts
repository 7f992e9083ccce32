import { isDeepStrictEqual } from "node:util";
import {
  LOGICAL_CLUSTER_SHARD_ANNOTATION,
  PHASE_LABEL,
  shardHash,
  WORKSPACE_SHARD_HASH_ANNOTATION,
} from "@virtual-workspaces/kcp";
import { withOwnersName } from "../model/owner.ts";
import { allShards } from "../model/shards.ts";
import { GO_ON, STOP, type Step } from "./step.ts";

/** Labels and annotations that say what the status says, a write later; the owner's groups go when they have served. */
export const metadataStep: Step = (workspace, { shard }) => {
  const { metadata, spec, status } = workspace;
  if (spec.mount !== undefined) return GO_ON;
  const phase = status?.phase ?? "Scheduling";
  const labels = { ...metadata.labels, [PHASE_LABEL]: phase };
  const annotations = { ...metadata.annotations };
  const name = annotations[LOGICAL_CLUSTER_SHARD_ANNOTATION];
  const hash = annotations[WORKSPACE_SHARD_HASH_ANNOTATION];
  if (name) annotations[WORKSPACE_SHARD_HASH_ANNOTATION] = shardHash(name);
  else if (hash !== undefined) {
    const found = allShards(shard.installation).find((each) => shardHash(each.metadata.name ?? "") === hash);
    if (found?.metadata.name !== undefined) annotations[LOGICAL_CLUSTER_SHARD_ANNOTATION] = found.metadata.name;
  }
  const next = phase === "Ready" ? (withOwnersName(annotations) ?? {}) : annotations;
  if (isDeepStrictEqual(labels, metadata.labels) && isDeepStrictEqual(next, metadata.annotations ?? {})) return GO_ON;
  metadata.labels = labels;
  metadata.annotations = next;
  return STOP;
};
