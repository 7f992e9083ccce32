import { apiVersionOf, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { Admit, Resource, ServedResource } from "@virtual-workspaces/framework";
import { KindVersions } from "@virtual-workspaces/framework/resource";
import type { APIBinding } from "@virtual-workspaces/kcp";
import type { PersistentCollection } from "@virtual-workspaces/store";
import type { CompiledKind } from "../../crds/served/kind-table.ts";
import { admitInOrder } from "../../state/admission.ts";

/** Served resources of a bound kind. */
export interface BoundKind {
  /** Stored objects; `undefined` for a kind that a view stores. */
  readonly objects?: PersistentCollection;
  /** Resources by plural, one for each version. */
  readonly served: readonly ServedResource[];
  /** The same resources, by identity. */
  readonly identified: readonly ServedResource[];
}

/** Kind that the server implements itself: served with the server's schema, whatever schema the export has. */
export interface OwnKind {
  readonly kind: Resource;
  readonly objects: PersistentCollection;
  /** Called first before every write. */
  readonly admit: Admit;
}

/** Returns the server's own kind for a bound resource; `undefined` if there is none. */
export type FindOwnKind = (pair: BoundPair) => OwnKind | undefined;

/** Serves a version of a resource that a view stores. */
export type ServeElsewhere = (kind: ElsewhereKind, pair: BoundPair, identity?: string) => ServedResource;

/** Version of a kind that a view stores, and all its versions. */
export interface ElsewhereKind {
  readonly resource: Resource;
  readonly versions: KindVersions;
}

/** Returns the served resources of a kind that a view stores. */
export function servedElsewhere(
  { stored, versions: all }: CompiledKind,
  pair: BoundPair,
  serve: ServeElsewhere,
): BoundKind {
  const versions = new KindVersions(stored);
  for (const { resource } of all)
    if (resource !== stored)
      versions.add({ definition: resource, of: stored, read: renamed(resource), write: renamed(stored) });
  const kinds = all.flatMap(({ resource, served }) => (served ? [{ resource, versions }] : []));
  return {
    served: kinds.map((kind) => serve(kind, pair)),
    identified: kinds.map((kind) => serve(kind, pair, pair.identity)),
  };
}

function renamed(version: Resource): (object: KubeObject) => KubeObject {
  return (object) => ({ ...object, apiVersion: apiVersionOf(version) });
}

/** Returns the served resources of an own kind. @param admit called before every write, after the kind's own rules */
export function servedOwn({ kind, objects, admit: own }: OwnKind, identity: string, admit: Admit): BoundKind {
  const all = admitInOrder(own, admit);
  return {
    objects,
    served: [kind.serve(objects, { admit: all })],
    identified: [kind.serve(objects, { admit: all, identity })],
  };
}

/** Bound resource with its schema and identity. */
export interface BoundPair {
  readonly group: string;
  readonly resource: string;
  /** Uid of the APIResourceSchema. */
  readonly uid: string;
  readonly identity: string;
  /** Whether this shard stores the objects. If not, a view does (`storage.virtual`): the binding has no storage versions. */
  readonly stored: boolean;
}

/** Returns the bound resources of a binding. */
export function boundPairs({ status }: APIBinding): BoundPair[] {
  return (status?.boundResources ?? []).map(({ group, resource, schema, storageVersions = [] }) => ({
    ...{ group, resource, uid: schema.UID, identity: schema.identityHash },
    stored: storageVersions.length > 0,
  }));
}

/** Returns the bound resources of a binding that this shard stores. */
export function pairsOf(binding: APIBinding): BoundPair[] {
  return boundPairs(binding).filter(({ stored }) => stored);
}

/** Returns a text that is equal only for equal pairs. */
export function pairText({ uid, identity, stored }: Omit<BoundPair, "group" | "resource">): string {
  return `${uid} ${identity}${stored ? "" : " elsewhere"}`;
}
