import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { type Admit, groupResourceOf } from "@virtual-workspaces/framework";
import type { ClaimIndex } from "./claim-index.ts";

/**
 * Admission of objects of every kind, the last to be asked before validation (kcp's `apis.kcp.io/PermissionClaims`): the
 * labels by which exports find what they claim are the server's. One that a client sets, changes or takes away is put
 * right without a word. Subresources leave labels alone.
 */
export function admitClaims(claims: ClaimIndex): Admit {
  return ({ definition, object, params, settled, subresource }) => {
    if (object === undefined || subresource !== "") return undefined;
    const { labels, name = "" } = object.metadata;
    const resource = groupResourceOf(definition);
    const corrected = claims.admitted({ resource, key: { cluster: params["cluster"] ?? "", name }, labels }, settled);
    return corrected === labels ? undefined : withLabels(object, corrected);
  };
}

/** An object with these labels: none if there are none. */
export function withLabels<T extends KubeObject>(object: T, labels: Readonly<Record<string, string>> | undefined): T {
  const { labels: _before, ...metadata } = object.metadata;
  if (labels === undefined || Object.keys(labels).length === 0) return { ...object, metadata };
  return { ...object, metadata: { ...metadata, labels: { ...labels } } };
}
