import type { KindReference, ObjectOf } from "@virtual-workspaces/apimachinery";

/** Where a hub is reached, by the other hubs of its shard and by agents: no other process answers there. */
export interface HubAddress {
  /** Before `/services`: `https://hub-0.example.com:6443`. */
  readonly url: string;
  /** Who certifies it, PEM. @default whom the machine trusts */
  readonly ca?: string | undefined;
}

/** A hub, as it says itself. */
export interface HubInfo extends Partial<HubAddress> {
  /** Another one for each start of a process. */
  readonly id: string;
}

interface LeaseContent {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
  };
}

/** What one is made of. */
type NewLease = Required<LeaseContent> & {
  readonly metadata: Readonly<Record<"labels" | "annotations", Readonly<Record<string, string>>>> & {
    readonly name: string;
  };
};

/** By which hubs know of one another. */
export type HubLease = ObjectOf<LeaseContent>;

export const LEASE: KindReference<LeaseContent> = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  scope: "Namespaced",
};
const SHARD_LABEL = "clusterproxy.proxy.kcp.io/shard";
const URL_ANNOTATION = "clusterproxy.proxy.kcp.io/url";
const CA_ANNOTATION = "clusterproxy.proxy.kcp.io/ca";
/** How long after its last renewal a hub counts as gone, s: others count renewals of their own, and no clocks. */
const DURATION = 15;

/** Of the hubs of a shard. */
export const leasesOf = (shard: string): string => `${SHARD_LABEL}=${shard}`;
export const leaseName = (id: string): string => `clusterproxy-hub-${id}`;

/** What a hub says of itself. */
export function newLease(
  { id, url, ca }: HubInfo,
  { shard, begun, now }: { readonly shard: string; readonly begun: Date; readonly now: Date },
): NewLease {
  return {
    metadata: {
      name: leaseName(id),
      labels: { [SHARD_LABEL]: shard },
      annotations: {
        ...(url !== undefined && { [URL_ANNOTATION]: url }),
        ...(ca !== undefined && { [CA_ANNOTATION]: ca }),
      },
    },
    spec: {
      holderIdentity: id,
      leaseDurationSeconds: DURATION,
      acquireTime: microTime(begun),
      renewTime: microTime(now),
    },
  };
}

/** What one says of its hub. */
export function hubOf({ metadata: { annotations = {} }, spec }: HubLease): HubInfo {
  const { [URL_ANNOTATION]: url, [CA_ANNOTATION]: ca } = annotations;
  return { id: spec?.holderIdentity ?? "", ...(url !== undefined && { url }), ...(ca !== undefined && { ca }) };
}

/** As Kubernetes reads times of Leases, and no otherwise (metav1.MicroTime). */
function microTime(time: Date): string {
  return time.toISOString().replace("Z", "000Z");
}
