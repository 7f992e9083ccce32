import type { Admit, Resource, ServedResource } from "@virtual-workspaces/framework";
import type { APIBinding } from "@virtual-workspaces/kcp";
import type { PersistentCollection } from "@virtual-workspaces/store";
import type { CompiledKind } from "../../crds/served/kind-table.ts";
import { admitInOrder } from "../../state/admission.ts";

/** What is served of a resource that is bound. */
export interface BoundKind {
  /** None of what a view keeps. */
  readonly objects?: PersistentCollection;
  /** One for each version, by the plural. */
  readonly served: readonly ServedResource[];
  /** The same by their identity. */
  readonly identified: readonly ServedResource[];
}

/** A resource that the server keeps itself, whatever schema its export shows: it is served as the server has it. */
export interface OwnKind {
  readonly kind: Resource;
  readonly objects: PersistentCollection;
  /** Asked first before every write. */
  readonly admit: Admit;
}

/** Finds what the server keeps itself of what is bound; `undefined` of everything else. */
export type FindOwnKind = (pair: BoundPair) => OwnKind | undefined;

/** Serves a version of a resource that a view keeps. */
export type ServeElsewhere = (kind: Resource, pair: BoundPair, identity?: string) => ServedResource;

/** What of a kind is served where a view keeps its objects. */
export function servedElsewhere({ versions }: CompiledKind, pair: BoundPair, serve: ServeElsewhere): BoundKind {
  const kinds = versions.flatMap(({ resource, served }) => (served ? [resource] : []));
  return {
    served: kinds.map((kind) => serve(kind, pair)),
    identified: kinds.map((kind) => serve(kind, pair, pair.identity)),
  };
}

/** Serves it where it is bound. @param admit asked before every write, after the kind's own rules */
export function servedOwn({ kind, objects, admit: own }: OwnKind, identity: string, admit: Admit): BoundKind {
  const all = admitInOrder(own, admit);
  return {
    objects,
    served: [kind.serve(objects, { admit: all })],
    identified: [kind.serve(objects, { admit: all, identity })],
  };
}

/** A resource as it is bound: by which schema it is served, and whose it is. */
export interface BoundPair {
  readonly group: string;
  readonly resource: string;
  /** Of the APIResourceSchema. */
  readonly uid: string;
  readonly identity: string;
  /** Whether its objects are here. Else a view keeps them (`storage.virtual`), as a binding without storage versions says. */
  readonly stored: boolean;
}

/** The resources that a binding has brought. */
export function boundPairs({ status }: APIBinding): BoundPair[] {
  return (status?.boundResources ?? []).map(({ group, resource, schema, storageVersions = [] }) => ({
    ...{ group, resource, uid: schema.UID, identity: schema.identityHash },
    stored: storageVersions.length > 0,
  }));
}

/** The same but those that are kept elsewhere. */
export function pairsOf(binding: APIBinding): BoundPair[] {
  return boundPairs(binding).filter(({ stored }) => stored);
}

/** The same text for equal pairs only. */
export function pairText({ uid, identity, stored }: Omit<BoundPair, "group" | "resource">): string {
  return `${uid} ${identity}${stored ? "" : " elsewhere"}`;
}
