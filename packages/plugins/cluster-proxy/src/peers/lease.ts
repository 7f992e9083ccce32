import type { KindReference, ObjectOf } from "@virtual-workspaces/apimachinery";

/** Address of a hub for other hubs of the shard and for agents. It leads to this process only. */
export interface HubAddress {
  /** Base URL without `/services`: `https://hub-0.example.com:6443`. */
  readonly url: string;
  /** CA certificate of the hub, PEM. @default the CA certificates of the machine */
  readonly ca?: string | undefined;
}

/** A hub as its Lease describes it. */
export interface HubInfo extends Partial<HubAddress> {
  /** Id, which changes with each start of a process. */
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

/** Manifest of a new Lease. */
type NewLease = Required<LeaseContent> & {
  readonly metadata: Readonly<Record<"labels" | "annotations", Readonly<Record<string, string>>>> & {
    readonly name: string;
  };
};

/** Lease of a hub. */
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
/** Lease duration in the object, s. Hubs themselves count renewals and do not compare clocks. */
const DURATION = 15;

/** Returns the label selector for the Leases of a shard's hubs. */
export const leasesOf = (shard: string): string => `${SHARD_LABEL}=${shard}`;
export const leaseName = (id: string): string => `clusterproxy-hub-${id}`;

/** Returns the Lease of a hub. */
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

/** Returns the hub of a Lease. */
export function hubOf({ metadata: { annotations = {} }, spec }: HubLease): HubInfo {
  const { [URL_ANNOTATION]: url, [CA_ANNOTATION]: ca } = annotations;
  return { id: spec?.holderIdentity ?? "", ...(url !== undefined && { url }), ...(ca !== undefined && { ca }) };
}

/** Formats a time for a Lease, which requires metav1.MicroTime. */
function microTime(time: Date): string {
  return time.toISOString().replace("Z", "000Z");
}
