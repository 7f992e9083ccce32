import type { GroupResource } from "@virtual-workspaces/apimachinery";
import { APIBinding, APIS_GROUP } from "@virtual-workspaces/kcp";
import { type ClaimReference, type ClaimSelector, normalizedGroupResource } from "@virtual-workspaces/kcp/apis";

/** Which export, or schema. */
export interface ExportKey {
  /** The name of the logical cluster that it is in. */
  readonly cluster: string;
  readonly name: string;
}

/** A claim that a workspace has decided about. */
export type BoundClaim = NonNullable<APIBinding["spec"]["permissionClaims"]>[number];

/**
 * What is kept of bindings: what they give, and to which export, and not even how they are called. There are some for each
 * workspace, and those to one export are mostly alike: then they are one object.
 */
export class SlimBindings {
  readonly #kept = new Interned<APIBinding>();

  /** The binding with what is asked of it, and nothing else. */
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

/** Whether a binding is to an export. Until it is bound, a path that is the name of a logical cluster says whose is meant. */
export function isBindingTo({ spec, status }: APIBinding, { cluster, name }: ExportKey): boolean {
  const { name: wanted, path } = spec.reference?.export ?? {};
  return wanted === name && (status?.apiExportClusterName || path) === cluster;
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

/** One value for all that are equal, as long as somebody has it. */
class Interned<T extends object> {
  readonly #known = new Map<string, WeakRef<T>>();
  readonly #gone = new FinalizationRegistry<string>((text) => {
    if (this.#known.get(text)?.deref() === undefined) this.#known.delete(text);
  });

  /** @param value plain data, which nobody changes */
  of(value: T): T {
    const text = JSON.stringify(value);
    const known = this.#known.get(text)?.deref();
    if (known !== undefined) return known;
    this.#known.set(text, new WeakRef(value));
    this.#gone.register(value, text);
    return value;
  }
}
