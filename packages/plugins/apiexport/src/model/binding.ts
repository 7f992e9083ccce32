import { CLUSTER_ANNOTATION, type GroupResource } from "@virtual-workspaces/apimachinery";
import {
  type APIBinding,
  type ClaimReference,
  type ClaimSelector,
  normalizedGroupResource,
} from "@virtual-workspaces/kcp";

/** A claim that a workspace has decided about. */
export type BoundClaim = NonNullable<APIBinding["spec"]["permissionClaims"]>[number];

/** Which export an index finds bindings by: where it is bound, where it is, its name. */
export function boundBy(cluster: string, exportCluster: string, name: string): string {
  return `${cluster}/${exportCluster}/${name}`;
}

/** What a binding is found by. Until it is bound, a path that is the name of a logical cluster says whose export is meant. */
export function bindingIndex({ metadata, spec, status }: APIBinding): readonly string[] {
  const { name, path } = spec.reference.export ?? {};
  const exportCluster = status?.apiExportClusterName || path;
  const cluster = metadata.annotations?.[CLUSTER_ANNOTATION];
  if (name === undefined || exportCluster === undefined || cluster === undefined) return [];
  return [boundBy(cluster, exportCluster, name)];
}

/** What is kept of a binding: a tenth of it, since there is one for each workspace. */
export function slimBinding(binding: APIBinding): APIBinding {
  const { apiVersion, kind, metadata, spec, status } = binding;
  const { name, resourceVersion, uid, annotations } = metadata;
  const { reference, permissionClaims = [] } = spec;
  const cluster = annotations?.[CLUSTER_ANNOTATION];
  const { apiExportClusterName, boundResources = [] } = status ?? {};
  return {
    apiVersion,
    kind,
    metadata: {
      ...{ name, resourceVersion, uid },
      ...(cluster === undefined ? {} : { annotations: { [CLUSTER_ANNOTATION]: cluster } }),
    },
    spec: { reference, permissionClaims: permissionClaims.filter(({ state }) => state === "Accepted") },
    status: {
      ...(apiExportClusterName === undefined ? {} : { apiExportClusterName }),
      boundResources: boundResources.map(({ group, resource, schema }) => ({ group, resource, schema })),
    },
  } as APIBinding;
}

/** Whether a workspace has a resource by a binding. */
export function isBound({ status }: APIBinding, { group, resource }: GroupResource): boolean {
  return status?.boundResources?.some((one) => one.group === group && one.resource === resource) === true;
}

/** The claim that a binding has accepted on a resource, whoever's it is. */
export function acceptedClaim(
  { spec }: APIBinding,
  asked: GroupResource,
): (ClaimReference & { readonly verbs: readonly string[]; readonly selector: ClaimSelector }) | undefined {
  const { group, resource } = normalizedGroupResource(asked);
  return spec.permissionClaims?.find(
    (claim) => claim.state === "Accepted" && (claim.group ?? "") === group && claim.resource === resource,
  ) as BoundClaim | undefined;
}
