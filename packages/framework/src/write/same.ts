import { equalJson, type KubeObject, type ManagedFieldsEntry } from "@virtual-workspaces/apimachinery";

/** Whether a write would change nothing but the times at which its managers wrote: then nothing is written at all. */
export function isSame(next: KubeObject, before: KubeObject): boolean {
  return equalJson(untimed(next), untimed(before));
}

function untimed(object: KubeObject): KubeObject {
  const { managedFields } = object.metadata;
  if (managedFields === undefined) return object;
  return { ...object, metadata: { ...object.metadata, managedFields: managedFields.map(withoutTime) } };
}

function withoutTime({ time: _time, ...entry }: ManagedFieldsEntry): ManagedFieldsEntry {
  return entry;
}
