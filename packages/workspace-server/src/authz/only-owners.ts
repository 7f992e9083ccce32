import { equalJson, type KubeObject } from "@virtual-workspaces/apimachinery";

/** Whether an update changes nothing but owners and finalizers (Kubernetes' `IsOnlyMutatingGCFields`), as garbage collection does. */
export function onlyOwnersChanged(object: KubeObject, oldObject: KubeObject | undefined): boolean {
  return oldObject !== undefined && equalJson(withoutOwners(object), withoutOwners(oldObject));
}

function withoutOwners({ metadata, ...object }: KubeObject): object {
  const {
    ownerReferences: _,
    finalizers: _f,
    managedFields: _m,
    resourceVersion: _r,
    generation: _g,
    ...rest
  } = metadata;
  return { ...object, metadata: rest };
}
