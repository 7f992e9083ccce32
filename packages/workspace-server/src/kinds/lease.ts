import {
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  type KubeObject,
  labelKeyProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { Resource } from "@virtual-workspaces/framework";
import { AGE, type BuiltInKind, type Columns, STANDARD_VERBS } from "./built-in-kind.ts";
import { int32, object, text, time } from "./descriptions.ts";
import { specOf, textOf } from "./problems.ts";

/** Fields of a Lease. */
export interface LeaseContent {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    /** RFC 3339 time with microseconds. */
    acquireTime?: string | null;
    renewTime?: string | null;
    leaseTransitions?: number;
    strategy?: string;
    preferredHolder?: string;
  };
}

function problems(lease: KubeObject): StatusCause[] {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions, strategy, preferredHolder } = specOf(lease);
  return [
    ...(typeof duration === "number" && duration <= 0
      ? [fieldInvalid("spec.leaseDurationSeconds", duration, "must be greater than 0")]
      : []),
    ...(typeof transitions === "number" && transitions < 0
      ? [fieldInvalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0")]
      : []),
    ...(typeof strategy === "string" ? strategyProblems(strategy) : []),
    ...(textOf(preferredHolder) !== "" && textOf(strategy) === ""
      ? [fieldForbidden("spec.preferredHolder", "may only be specified if `strategy` is defined")]
      : []),
  ];
}

function strategyProblems(strategy: string): StatusCause[] {
  const field = "spec.strategy.strategy"; // Kubernetes repeats the field name
  if (strategy.includes("/"))
    return labelKeyProblems(strategy).map((problem) => fieldInvalid(field, strategy, problem));
  const known = "OldestEmulationVersion";
  return strategy === known ? [] : [fieldNotSupported(field, strategy, [known])];
}

const columns: Columns = {
  Holder: {
    type: "string",
    jsonPath: ".spec.holderIdentity",
    description: "holderIdentity contains the identity of the holder of a current lease.",
  },
  Age: AGE,
};

/** `coordination.k8s.io/v1` Lease, for leader election. */
export const Lease: Resource<LeaseContent> = new Resource<LeaseContent>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  scope: "Namespaced",
  description: "Lease defines a lease concept.",
  schema: {
    type: "object",
    properties: {
      spec: object("Holder and times of the lease.", {
        holderIdentity: text("Identity of the current holder."),
        leaseDurationSeconds: int32("Seconds after renewTime before others may take the lease."),
        acquireTime: time("Time when the lease was acquired."),
        renewTime: time("Time when the holder last renewed the lease."),
        leaseTransitions: int32("Number of changes of the holder."),
        strategy: text("Strategy for picking the leader of a coordinated election."),
        preferredHolder: text("Identity of the next holder."),
      }),
    },
  },
  columns,
  strategy: { generation: false, createOnUpdate: true, problems },
});

export const leases: BuiltInKind = { resource: Lease, verbs: STANDARD_VERBS };
