import { CLUSTER_ANNOTATION, isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import { PATH_ANNOTATION, WORKSPACE_TYPE_ANNOTATION } from "@virtual-workspaces/kcp";

const ANNOTATIONS = [CLUSTER_ANNOTATION, PATH_ANNOTATION, WORKSPACE_TYPE_ANNOTATION];

/** Of a Workspace or LogicalCluster, what the index is told of, and the version: some 400 bytes. */
export function kept<T extends KubeObject>(object: T): T {
  const { apiVersion, kind, metadata } = object;
  const { name, uid, resourceVersion, annotations = {} } = metadata;
  const spec = memberOf(object, "spec");
  const status = memberOf(object, "status");
  return {
    ...{ apiVersion, kind },
    metadata: { name, uid, resourceVersion, annotations: only(annotations, ANNOTATIONS) },
    spec: { ...only(spec, ["cluster", "URL"]), ...(isJsonObject(spec["mount"]) && { mount: {} }) },
    status: only(status, ["phase"]),
  } as unknown as T;
}

function memberOf(object: object, name: string): Readonly<Record<string, unknown>> {
  const value = (object as Readonly<Record<string, unknown>>)[name];
  return isJsonObject(value) ? value : {};
}

function only(from: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(from, name) ? [[name, from[name]]] : [])));
}
