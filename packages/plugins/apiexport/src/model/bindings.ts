import type { GroupResource } from "@virtual-workspaces/apimachinery";
import { APIBinding, APIS_GROUP } from "@virtual-workspaces/kcp";
import { type ClaimReference, type ClaimSelector, normalizedGroupResource } from "@virtual-workspaces/kcp/apis";

/** Key of an export or a schema. */
export interface ExportKey {
  /** Name of the logical cluster. */
  readonly cluster: string;
  readonly name: string;
}

/** Permission claim with the workspace's decision. */
export type BoundClaim = NonNullable<APIBinding["spec"]["permissionClaims"]>[number];

/**
 * Reduces bindings to their export and the access that they give, without their names. Each workspace has some, and those to one
 * export are mostly equal: then they share one object.
 */
export class SlimBindings {
  readonly #kept = new Interned<APIBinding>();

  /** Returns the binding with only the used fields. */
  readonly of = ({ spec, status }: APIBinding): APIBinding => {
    const { reference, permissionClaims = [] } = (spec ?? {}) as APIBinding["spec"];
    const { phase, apiExportClusterName, boundResources = [] } = status ?? {};
    return this.#kept.of({
      ...TYPE,
      metadata: {},
      spec: { reference, permissionClaims: permissionClaims.filter(({ state }) => state === "Accepted") },
      status: {
        ...(phase === undefined ? {} : { phase }),
        ...(apiExportClusterName === undefined ? {} : { apiExportClusterName }),
        boundResources: boundResources.map(({ group, resource }) => ({ group, resource })),
      },
    } as unknown as APIBinding);
  };
}

const TYPE = { apiVersion: `${APIS_GROUP}/${APIBinding.version}`, kind: APIBinding.kind } as const;

/** Returns whether a binding refers to an export. Before it is bound, a path counts if it is the name of a logical cluster. */
export function isBindingTo({ spec, status }: APIBinding, { cluster, name }: ExportKey): boolean {
  const { name: wanted, path } = spec.reference?.export ?? {};
  return wanted === name && (status?.apiExportClusterName || path) === cluster;
}

/** Returns whether a workspace has a resource through a binding. */
export function isBound({ status }: APIBinding, { group, resource }: GroupResource): boolean {
  return status?.boundResources?.some((one) => one.group === group && one.resource === resource) === true;
}

/** Returns the accepted claim of a binding for a resource, of any identity. */
export function acceptedClaim(
  { spec }: APIBinding,
  asked: GroupResource,
): (ClaimReference & { readonly verbs: readonly string[]; readonly selector: ClaimSelector }) | undefined {
  const { group, resource } = normalizedGroupResource(asked);
  return spec.permissionClaims?.find(
    (claim) => claim.state === "Accepted" && (claim.group ?? "") === group && claim.resource === resource,
  ) as BoundClaim | undefined;
}

/** Shares one value among all equal ones, while it is referenced. */
class Interned<T extends object> {
  readonly #known = new Map<string, WeakRef<T>>();
  readonly #gone = new FinalizationRegistry<string>((text) => {
    if (this.#known.get(text)?.deref() === undefined) this.#known.delete(text);
  });

  /** @param value immutable plain data */
  of(value: T): T {
    const text = JSON.stringify(value);
    const known = this.#known.get(text)?.deref();
    if (known !== undefined) return known;
    this.#known.set(text, new WeakRef(value));
    this.#gone.register(value, text);
    return value;
  }
}
