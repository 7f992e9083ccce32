import { FOREGROUND_FINALIZER, type ObjectMeta, ORPHAN_FINALIZER } from "@virtual-workspaces/apimachinery";
import type { StoredObject } from "@virtual-workspaces/store";
import { type Node, placeId, type Waits } from "./graph.ts";

/** One of these is in the bytes of every object that the garbage collector has to do with. */
const MARKS = ['"ownerReferences"', `"${FOREGROUND_FINALIZER}"`, `"${ORPHAN_FINALIZER}"`].map((text) =>
  Buffer.from(text),
);

/** An object as the graph has it; `undefined` of one that has no owners and waits for no dependents, which is not parsed. */
export function readNode(object: StoredObject): Node | undefined {
  const { space, key, bytes } = object;
  if (!MARKS.some((mark) => bytes.includes(mark))) return undefined;
  const { metadata } = JSON.parse(bytes.toString()) as { readonly metadata: ObjectMeta };
  const references = metadata.ownerReferences ?? [];
  const waits = waitsOf(metadata);
  if (references.length === 0 && waits === undefined) return undefined;
  return { id: placeId(object), space, key, uid: metadata.uid ?? "", references, waits };
}

/** What an object waits for before it goes. */
export function waitsOf({ deletionTimestamp, finalizers = [] }: ObjectMeta): Waits | undefined {
  if (deletionTimestamp === undefined) return undefined;
  if (finalizers.includes(FOREGROUND_FINALIZER)) return "foreground";
  return finalizers.includes(ORPHAN_FINALIZER) ? "orphan" : undefined;
}
