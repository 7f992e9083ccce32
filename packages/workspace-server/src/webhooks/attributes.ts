import { apiVersionOf, CLUSTER_ANNOTATION, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { AdmitRequest, ResourceDefinition } from "@virtual-workspaces/framework";

/** A write as webhooks see it (Kubernetes' admission attributes). The object is the current one, after earlier changes. */
export class Attributes {
  readonly request: AdmitRequest;
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  /** Object after the write, with kcp's annotation of the logical cluster; `undefined` for a delete. */
  object: KubeObject | undefined;

  constructor(request: AdmitRequest, object: KubeObject | undefined = request.object) {
    const { name = "", namespace = "" } = (object ?? request.oldObject)?.metadata ?? {};
    this.request = request;
    this.cluster = request.params["cluster"] ?? "";
    this.name = name;
    this.namespace = request.definition.scope === "Namespaced" ? namespace : "";
    const isNew = request.operation === "CREATE" && object !== undefined;
    this.object = isNew ? inCluster(object, this.cluster) : object;
  }

  get oldObject(): KubeObject | undefined {
    return this.request.oldObject;
  }

  /** Restores the annotation of the logical cluster in an object that a webhook has changed, in place. */
  keepCluster({ metadata }: KubeObject): void {
    const known = (this.object ?? this.oldObject)?.metadata.annotations?.[CLUSTER_ANNOTATION];
    const { [CLUSTER_ANNOTATION]: _, ...annotations } = metadata.annotations ?? {};
    metadata.annotations = known === undefined ? annotations : { ...annotations, [CLUSTER_ANNOTATION]: known };
    if (Object.keys(metadata.annotations).length === 0) delete metadata.annotations;
  }

  /** Returns an object in a version of its kind. @throws ApiError of a conversion */
  as(object: KubeObject | undefined, definition: ResourceDefinition): KubeObject | undefined {
    const apiVersion = apiVersionOf(definition);
    if (object === undefined || object.apiVersion === apiVersion) return object;
    const converted = this.request.versions?.convert(object, apiVersion) ?? object;
    return { ...converted, apiVersion, kind: definition.kind };
  }
}

function inCluster(object: KubeObject, cluster: string): KubeObject {
  const annotations = { ...object.metadata.annotations, [CLUSTER_ANNOTATION]: cluster };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Takes the annotation off again. */
export function withoutCluster(object: KubeObject): KubeObject {
  const { [CLUSTER_ANNOTATION]: _, ...annotations } = object.metadata.annotations ?? {};
  const { annotations: __, ...metadata } = object.metadata;
  const hasOthers = Object.keys(annotations).length > 0;
  return { ...object, metadata: { ...metadata, ...(hasOthers && { annotations }) } };
}
