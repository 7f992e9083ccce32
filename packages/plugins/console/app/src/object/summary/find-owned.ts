import { listableIn } from "../../api/access.ts";
import { resourcePath, workspacePath } from "../../api/base.ts";
import { request } from "../../api/client.ts";
import type { Discovery, Resource } from "../../api/discovery.ts";
import type { ObjectAddress } from "../../api/objects.ts";
import type { KubernetesObject, List } from "../../api/types.ts";
import type { OwnerReference } from "../live-object.ts";

/** Lists metadata only, where the server can. */
const ACCEPT = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
/** Objects of an answer, and answers of a kind: no more are looked at. */
const CHUNK = 500;
const PAGES = 4;
/** Kinds that are listed at the same time. */
const AT_ONCE = 4;

export interface OwnedObject {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
}

export interface OwnedSoFar {
  readonly objects: readonly OwnedObject[];
  /** Kinds that have been looked at, of so many. */
  readonly done: number;
  readonly total: number;
  /** Kinds that could not be listed, and kinds that have more objects than were looked at. */
  readonly skipped: readonly string[];
  readonly cut: readonly string[];
}

/** Looks for the objects that an object owns, among the kinds that can be listed. Calls `onProgress` after each kind. */
export async function findOwned(
  { owner, uid, found }: { readonly owner: ObjectAddress; readonly uid: string; readonly found: Discovery },
  onProgress: (state: OwnedSoFar) => void,
  stop: AbortSignal,
): Promise<void> {
  const { workspace, namespace } = owner;
  const mayList = await listableIn(workspace, namespace, stop);
  // What an object in a namespace owns is in the same namespace.
  const kinds = found.resources.filter(
    (one) => isWorthwhile(one) && (namespace === "" || one.isNamespaced) && mayList(one),
  );
  if (kinds.length === 0) onProgress({ objects: [], done: 0, total: 0, skipped: [], cut: [] });
  const queue = [...kinds];
  const objects: OwnedObject[] = [];
  const skipped: string[] = [];
  const cut: string[] = [];
  let done = 0;
  const work = async () => {
    for (let resource = queue.shift(); resource !== undefined && !stop.aborted; resource = queue.shift()) {
      try {
        const listed = await ownedOf(resource, { workspace, namespace, uid, stop });
        objects.push(...listed.objects);
        if (listed.isCut) cut.push(resource.resource);
      } catch {
        if (stop.aborted) return;
        skipped.push(resource.resource);
      }
      done += 1;
      onProgress({ objects: [...objects], done, total: kinds.length, skipped, cut });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Events name what they are about, and own nothing; other versions of a group have the same objects. */
const isWorthwhile = ({ verbs, resource, group, isPreferred }: Resource): boolean =>
  isPreferred && verbs.includes("list") && !(resource === "events" && (group === "" || group === "events.k8s.io"));

interface Owner {
  readonly workspace: string;
  readonly namespace: string;
  readonly uid: string;
  readonly stop: AbortSignal;
}

async function ownedOf(resource: Resource, { workspace, namespace, uid, stop }: Owner) {
  const path = `${workspacePath(workspace)}/${resourcePath(resource, { namespace })}`;
  const objects: OwnedObject[] = [];
  let next: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const parameters = { limit: CHUNK, continue: next };
    const list: List<KubernetesObject> = await request(path, { parameters, accept: ACCEPT, signal: stop });
    for (const { metadata } of list.items ?? []) {
      const { ownerReferences = [] } = metadata as { readonly ownerReferences?: readonly OwnerReference[] };
      if (ownerReferences.some((owner) => owner.uid === uid))
        objects.push({ resource, namespace: metadata.namespace ?? "", name: metadata.name });
    }
    next = list.metadata.continue || undefined;
    if (next === undefined) return { objects, isCut: false };
  }
  return { objects, isCut: true };
}
