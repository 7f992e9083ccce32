import { isDeepStrictEqual } from "node:util";
import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Source } from "@virtual-workspaces/client";

/**
 * Calls back for objects that are there, that come, that go, and that change in what counts. Not for those that have been there
 * all along and come to be known: whoever looks at other objects for their sake looks at each of these once, then.
 */
export function follow<T extends KubeObject>(
  source: Source<T>,
  changed: (object: T, key: ObjectKey) => void,
  counts: (object: T) => unknown = (object) => object.metadata.resourceVersion,
): Disposable {
  return source.on({
    added: (object, { key, initial }) => {
      if (initial !== true) changed(object, key);
    },
    updated: (object, before, { key }) => {
      if (!isDeepStrictEqual(counts(object), counts(before))) changed(object, key);
    },
    deleted: (object, { key }) => changed(object, key),
  });
}
