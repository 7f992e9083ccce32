import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import { keyOf, keyText } from "./key.ts";
import type { ControllerSource } from "./options.ts";

/** The keys that a change of an object in a source concerns, each once. */
export function concerned<T extends KubeObject>(
  { informer, key }: ControllerSource<T>,
  ...objects: readonly KubeObject[]
): ObjectKey[] {
  const found = new Map<string, ObjectKey>();
  for (const object of objects) {
    const keys = key === undefined ? (informer.keyOf?.(object) ?? keyOf(object)) : key(object);
    for (const each of Array.isArray(keys) ? (keys as readonly ObjectKey[]) : [keys as ObjectKey])
      found.set(keyText(each), each);
  }
  return [...found.values()];
}
