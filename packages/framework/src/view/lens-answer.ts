import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { cloneJson, type KubeObject } from "@virtual-workspaces/apimachinery";
import { decodeObject, type Encoded, isEncoded, parsed } from "../watch/cache/encoded.ts";
import type { RequestOptions } from "../storage.ts";
import { cacheKey } from "../watch/cache/objects.ts";
import type { Before, Lens } from "./lens.ts";

/**
 * The object of the source that a write has left, as the view shows it: at the version at which its watchers see it, or,
 * if it has left the view, at that of its going.
 */
export async function shownAfter<In extends object, Out extends object, By, Inputs>(
  lens: Lens<In, Out, By, Inputs>,
  before: Before,
  { kept, options }: { readonly kept: KubeObject | Encoded; readonly options: RequestOptions },
): Promise<ObjectOf<Out> | Encoded> {
  const { lease } = lens;
  const { resourceVersion, uid = "" } = isEncoded(kept) ? kept : kept.metadata;
  await lease.confirm(options);
  const { cache } = lease;
  const key = cacheKey(before.key);
  let left: string | undefined;
  for (let at = cache.next - 1; at >= Math.max(before.since, cache.first); at--) {
    const event = cache.event(at);
    if (cacheKey(event.key) !== key) continue;
    if (event.object === undefined) left ??= event.version;
    else if (lease.sourceVersion(event.object) === resourceVersion) return event.object;
  }
  const now = cache.get(before.key);
  // Somebody else has written since, or nothing has changed.
  if (now !== undefined && now.uid === uid) return now;
  // As in Kubernetes, what goes with its last finalizer is answered at the version that it had.
  const { shown } = before;
  const gone = shown !== undefined && lease.sourceVersion(shown) === resourceVersion;
  return mapped(lens, before, { kept, version: gone ? shown.resourceVersion : (left ?? cache.head) });
}

/** As the view would show it, did it show it. */
export function mapped<In extends object, Out extends object, By, Inputs>(
  { lease: { computation } }: Lens<In, Out, By, Inputs>,
  { key, shown }: Before,
  { kept, version }: { readonly kept: KubeObject | Encoded; readonly version: string | undefined },
): ObjectOf<Out> {
  let object: ObjectOf<Out>;
  try {
    object = computation.map(cloneJson(parsed(kept)) as ObjectOf<In>, key);
  } catch (error) {
    computation.report(error, key);
    if (shown === undefined) throw error;
    object = decodeObject(shown);
  }
  if (version !== undefined) object.metadata.resourceVersion = version;
  return object;
}
