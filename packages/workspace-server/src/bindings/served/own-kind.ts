import type { Admit, Resource, ServedResource } from "@virtual-workspaces/framework";
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
export type ServeElsewhere = (kind: Resource, pair: BoundPair, identity?: string) => ServedResource;

/** Returns the served resources of a kind that a view stores. */
export function servedElsewhere({ versions }: CompiledKind, pair: BoundPair, serve: ServeElsewhere): BoundKind {
  const kinds = versions.flatMap(({ resource, served }) => (served ? [resource] : []));
  return {
    served: kinds.map((kind) => serve(kind, pair)),
    identified: kinds.map((kind) => serve(kind, pair, pair.identity)),
  };
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
