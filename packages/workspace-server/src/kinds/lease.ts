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
import { leaseMessage } from "./protobuf.ts";

/** What a Lease holds. */
export interface LeaseContent {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    /** RFC 3339 with microseconds. */
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
  const field = "spec.strategy.strategy"; // Kubernetes names it twice
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

/** `coordination.k8s.io/v1` Lease: who leads, until when. */
export const Lease: Resource<LeaseContent> = new Resource<LeaseContent>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  scope: "Namespaced",
  description: "Lease defines a lease concept.",
  schema: {
    type: "object",
    properties: {
      spec: object("Who holds it, and since when.", {
        holderIdentity: text("Who holds it."),
        leaseDurationSeconds: int32("How long others wait after renewTime before they take it, s."),
        acquireTime: time("When it was taken."),
        renewTime: time("When its holder last renewed it."),
        leaseTransitions: int32("How often it changed hands."),
        strategy: text("How the leader of a coordinated election is picked."),
        preferredHolder: text("Who is to take it over."),
      }),
    },
  },
  columns,
  protobuf: leaseMessage,
  strategy: { generation: false, createOnUpdate: true, problems },
});

export const leases: BuiltInKind = { resource: Lease, verbs: STANDARD_VERBS };
