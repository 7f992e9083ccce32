// What cases of kcp's views of workspaces that wait begin with: a type in the case's workspace, and workspaces of it that
// are set up or torn down.
import { create, get, ofType, remove, TENANCY, WS, workspaceType } from "./api.ts";
import type { Ask, Step, User } from "./step.ts";
import { quiet } from "./view.ts";

type More = Readonly<Record<string, unknown>>;

/** What of workspaces' lifecycle a view is of, and what is called after it. */
export interface Phase {
  readonly is: "initializing" | "terminating";
  readonly verb: "initialize" | "terminate";
  /** Of a WorkspaceType. */
  readonly flag: "initializer" | "terminator";
  readonly permissions: "initializerPermissions" | "terminatorPermissions";
  /** Of a LogicalCluster's status. */
  readonly member: "initializers" | "terminators";
}

export const INITIALIZING: Phase = {
  is: "initializing",
  verb: "initialize",
  flag: "initializer",
  permissions: "initializerPermissions",
  member: "initializers",
};
export const TERMINATING: Phase = {
  is: "terminating",
  verb: "terminate",
  flag: "terminator",
  permissions: "terminatorPermissions",
  member: "terminators",
};

export const CLUSTERS = "/apis/core.kcp.io/v1alpha1/logicalclusters";
export const CLUSTER = `${CLUSTERS}/cluster`;
export const TYPES = `${WS}${TENANCY}/workspacetypes`;
export const KIDS = `${WS}${TENANCY}/workspaces`;

/** `/services/initializingworkspaces/<of>/clusters`. */
export const rootOf = ({ is }: Phase, of = "$(ws):setup"): string => `/services/${is}workspaces/${of}/clusters`;
export const allOf = (phase: Phase, type = "setup"): string => `${rootOf(phase, `$(ws):${type}`)}/*`;
export const oneOf = (phase: Phase, type = "setup", kid = "kid"): string =>
  `${rootOf(phase, `$(ws):${type}`)}/$(${kid}.spec.cluster)`;

/** A type whose owner wants to see its workspaces. */
export const typed = (phase: Phase, name = "setup", more: More = {}): readonly Ask[] => [
  create(TYPES, workspaceType(name, { [phase.flag]: true, ...more }), quiet),
  get(`${TYPES}/${name}`, {
    until: { body: { status: { conditions: [{ type: "Ready", status: "True" }] } } },
    ...quiet,
  }),
];

/** A workspace of a type that waits for its owner. */
export function waiting(
  phase: Phase,
  { type = "setup", kid = "kid", of = type, user }: { type?: string; kid?: string; of?: string; user?: User } = {},
): readonly Step[] {
  const made = create(KIDS, ofType(kid, type, "$(path)"), { until: { code: 201 }, ...quiet, ...(user && { user }) });
  const initializing = { phase: "Initializing", initializers: [`$(ws):${of}`] };
  const status = phase.is === "initializing" ? initializing : { phase: "Ready" };
  return [
    made,
    get(`${KIDS}/${kid}`, { until: { body: { status } }, tell: ["status.phase"], as: kid }),
    ...(phase.is === "initializing" ? [] : [remove(`${KIDS}/${kid}`, { tell: ["kind"] })]),
    seen(phase, of, kid),
  ];
}

/** Once the view of a type has it. */
export const seen = (phase: Phase, type = "setup", kid = "kid"): Ask =>
  get(`${allOf(phase, type)}${CLUSTERS}`, {
    until: { body: { items: [{ metadata: { annotations: { "kcp.io/cluster": `$(${kid}.spec.cluster)` } } }] } },
    tell: ["kind"],
  });

/** A type of both's, and a workspace of it. */
export const shared = (phase: Phase): readonly Step[] => [
  ...typed(phase),
  ...typed(phase, "other"),
  create(TYPES, workspaceType("both", { extend: { with: ["setup", "other"].map(reference) } }), quiet),
  get(`${TYPES}/both`, {
    until: { body: { status: { conditions: [{ type: "Ready", status: "True" }] } } },
    ...quiet,
  }),
  ...waiting(phase, { type: "both", of: "setup" }),
  seen(phase, "other"),
];

function reference(name: string): object {
  return { name, path: "$(path)" };
}

/** Who may see the workspaces of a type. */
export const owning = ({ verb }: Phase, more: More = {}): object => ({
  ...{ apiGroups: ["tenancy.kcp.io"], resources: ["workspacetypes"], resourceNames: ["setup"] },
  ...{ verbs: [verb], ...more },
});

/** A phase's cases, as an area's are. */
export type Cases = Readonly<Record<string, readonly Step[]>>;
