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
