import { CLUSTER_ANNOTATION, type GroupResource } from "@virtual-workspaces/apimachinery";
import {
  APIBinding,
  APIS_GROUP,
  type ClaimReference,
  type ClaimSelector,
  normalizedGroupResource,
} from "@virtual-workspaces/kcp";
import { Interned } from "./interned.ts";

/** A claim that a workspace has decided about. */
export type BoundClaim = NonNullable<APIBinding["spec"]["permissionClaims"]>[number];

/** Which export an index finds bindings by: where it is bound, where it is, its name. */
export function boundBy(cluster: string, exportCluster: string, name: string): string {
  return `${cluster}/${exportCluster}/${name}`;
}

/** What a binding is found by. Until it is bound, a path that is the name of a logical cluster says whose export is meant. */
export function bindingIndex({ metadata, spec, status }: APIBinding): readonly string[] {
  const { name, path } = spec?.reference?.export ?? {};
  const exportCluster = status?.apiExportClusterName || path;
  const cluster = metadata.annotations?.[CLUSTER_ANNOTATION];
  if (name === undefined || exportCluster === undefined || cluster === undefined) return [];
  return [boundBy(cluster, exportCluster, name)];
}

type Spec = APIBinding["spec"];
type Status = NonNullable<APIBinding["status"]>;

/**
 * What is kept of bindings: there are some for each workspace, and those to one export are mostly alike. So each costs its
 * name and place, 1 KiB or so with what it is found by, and what it gives is there once.
 */
export class SlimBindings {
  readonly #specs = new Interned<Spec>();
  readonly #statuses = new Interned<Status>();

  /** The binding with what is asked of it, and nothing else. */
  readonly of = ({ metadata, spec, status }: APIBinding): APIBinding => {
    const { name, resourceVersion, uid, annotations } = metadata;
    const { reference, permissionClaims = [] } = (spec ?? {}) as Spec;
    const { apiExportClusterName, boundResources = [] } = status ?? {};
    const cluster = annotations?.[CLUSTER_ANNOTATION];
    const bound = boundResources.map(({ group, resource }) => ({ group, resource }));
    return {
      ...TYPE,
      metadata: {
        ...{ name, resourceVersion, uid },
        ...(cluster === undefined ? {} : { annotations: { [CLUSTER_ANNOTATION]: cluster } }),
      },
      spec: this.#specs.of({
        reference,
        permissionClaims: permissionClaims.filter(({ state }) => state === "Accepted"),
      }),
      status: this.#statuses.of({
        ...(apiExportClusterName === undefined ? {} : { apiExportClusterName }),
        boundResources: bound as unknown as Status["boundResources"],
      } as Status),
    } as APIBinding;
  };
}

const TYPE = { apiVersion: `${APIS_GROUP}/${APIBinding.version}`, kind: APIBinding.kind } as const;

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
