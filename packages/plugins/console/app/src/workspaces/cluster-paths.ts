import { useEffect, useState } from "preact/hooks";
import { queryPath, workspacePath } from "../api/base.ts";
import { request } from "../api/client.ts";
import { clusterOf, type List } from "../api/types.ts";
import { memory } from "../object/memory.ts";
import type { LogicalCluster } from "./logical-cluster.ts";
import { treeRows } from "./tree-model.ts";

const LOGICAL_CLUSTERS = "apis/core.kcp.io/v1alpha1/logicalclusters";
/** Logical clusters of a request. */
const CHUNK = 100;

/** Paths by the name of the logical cluster: a workspace keeps its path. */
const paths = memory<string, string>();

/**
 * The workspace paths of logical clusters, as far as they are known: from the tree, else from their LogicalClusters. `pathOf` returns the
 * name itself for one that is unknown, or that the user may not read.
 */
export function useClusterPaths(names: readonly string[]): (cluster: string) => string {
  const [, setRead] = useState(0);
  const unknown = [...new Set(names)].filter((name) => isName(name) && !paths.has(name)).sort();
  const key = unknown.join(" ");
  useEffect(() => {
    if (key === "") return undefined;
    const stop = new AbortController();
    void readPaths(key.split(" "), stop.signal).then(() => {
      if (!stop.signal.aborted) setRead((count) => count + 1);
    });
    return () => stop.abort();
  }, [key]);
  return (cluster) => paths.get(cluster) ?? cluster;
}

/** Only the logical clusters of the top have their path as their name. */
const isName = (name: string): boolean => name !== "" && name !== "root" && !name.includes(":");

async function readPaths(names: readonly string[], signal: AbortSignal): Promise<void> {
  for (const { path, workspace } of treeRows.peek())
    if (workspace?.spec?.cluster !== undefined) paths.set(workspace.spec.cluster, path);
  const open = names.filter((name) => !paths.has(name));
  for (let at = 0; at < open.length; at += CHUNK) await readChunk(open.slice(at, at + CHUNK), signal);
}

async function readChunk(names: readonly string[], signal: AbortSignal): Promise<void> {
  const filter = `object.metadata.annotations["kcp.io/cluster"] in ${JSON.stringify(names)}`;
  const options = { parameters: { filter }, signal };
  const list = await request<List<LogicalCluster>>(`${queryPath("*")}/${LOGICAL_CLUSTERS}`, options).catch(
    () => undefined,
  );
  for (const one of list?.items ?? []) keep(clusterOf(one), one);
  // Without query views over all workspaces, or on other shards.
  const others = names.filter((name) => !paths.has(name));
  await Promise.all(
    others.map(async (name) => {
      const path = `${workspacePath(name)}/${LOGICAL_CLUSTERS}/cluster`;
      const one = await request<LogicalCluster>(path, { signal }).catch(() => undefined);
      if (one !== undefined) keep(name, one);
    }),
  );
}

function keep(name: string, { metadata }: LogicalCluster): void {
  const path = metadata.annotations?.["kcp.io/path"];
  if (path !== undefined) paths.set(name, path);
}
