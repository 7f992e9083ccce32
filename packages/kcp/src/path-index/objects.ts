import { CLUSTER_ANNOTATION, isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import { PATH_ANNOTATION, WORKSPACE_TYPE_ANNOTATION } from "../well-known/annotations.ts";
import type { IndexedLogicalCluster, IndexedWorkspace } from "./types.ts";

const textOf = (from: unknown, key: string): string | undefined => {
  const value = isJsonObject(from) ? from[key] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
};

const memberOf = (from: unknown, key: string): unknown => (isJsonObject(from) ? from[key] : undefined);

/**
 * What the index needs of a Workspace object, as shards serve it; fields that are not as they should be count as absent.
 * Undefined without the annotation `kcp.io/cluster` or a name.
 */
export function indexedWorkspace(object: KubeObject): IndexedWorkspace | undefined {
  const cluster = textOf(object.metadata.annotations, CLUSTER_ANNOTATION);
  const name = textOf(object.metadata, "name");
  if (cluster === undefined || name === undefined) return undefined;
  const spec = memberOf(object, "spec");
  const mounted = isJsonObject(memberOf(spec, "mount"));
  return {
    cluster,
    name,
    target: textOf(spec, "cluster"),
    mountURL: mounted ? textOf(spec, "URL") : undefined,
    phase: textOf(memberOf(object, "status"), "phase"),
  };
}

/** What the index needs of a LogicalCluster object. Undefined without the annotation `kcp.io/cluster`. */
export function indexedLogicalCluster(object: KubeObject): IndexedLogicalCluster | undefined {
  const { annotations } = object.metadata;
  const name = textOf(annotations, CLUSTER_ANNOTATION);
  if (name === undefined) return undefined;
  return { name, path: textOf(annotations, PATH_ANNOTATION), type: textOf(annotations, WORKSPACE_TYPE_ANNOTATION) };
}
