import { createHash } from "node:crypto";
import type { APIBinding } from "@virtual-workspaces/kcp";

/** A resource as it is bound: by which schema it is served, and whose it is. */
export interface BoundPair {
  readonly group: string;
  readonly resource: string;
  /** Of the APIResourceSchema. */
  readonly uid: string;
  readonly identity: string;
}

/** The resources that a binding has brought, but those that are kept elsewhere. */
export function pairsOf({ status }: APIBinding): BoundPair[] {
  return (status?.boundResources ?? []).flatMap(({ group, resource, schema, storageVersions = [] }) =>
    storageVersions.length === 0
      ? []
      : [{ group, resource, uid: schema.UID, identity: schema.identityHash } satisfies BoundPair],
  );
}

/** The same text for equal pairs only. */
export function pairText({ uid, identity }: Pick<BoundPair, "uid" | "identity">): string {
  return `${uid} ${identity}`;
}

/**
 * The key space of the objects of a resource of an identity, of all workspaces that bind it, by whichever schema. Two
 * identities never share one: what one provider sees, another does not.
 */
export function boundKeySpace({ group, resource, identity }: Omit<BoundPair, "uid">): string {
  return `bound-${createHash("sha256")
    .update(JSON.stringify([group, resource, identity]))
    .digest("hex")}`;
}
