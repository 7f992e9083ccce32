import type { APIBinding } from "@virtual-workspaces/kcp";

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
