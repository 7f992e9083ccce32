import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import { keyText } from "./key.ts";
import type { ControllerSource } from "./options.ts";

/** The keys that a change of an object in a source concerns, each once. @param key the object's own */
export function concerned<T extends KubeObject>(
  source: ControllerSource<T>,
  key: ObjectKey,
  objects: readonly KubeObject[],
): readonly ObjectKey[] {
  if (source.key === undefined) return [key];
  const found = new Map<string, ObjectKey>();
  for (const object of objects) {
    const keys = source.key(object, key);
    for (const each of Array.isArray(keys) ? (keys as readonly ObjectKey[]) : [keys as ObjectKey])
      found.set(keyText(each), each);
  }
  return [...found.values()];
}
