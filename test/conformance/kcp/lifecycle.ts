// Setup for cases of kcp's views of waiting workspaces: a type in the case's workspace, and workspaces of it that are being
// initialized or terminated.
import { create, get, ofType, remove, TENANCY, WS, workspaceType } from "./api.ts";
import type { Ask, Step, User } from "./step.ts";
import { quiet } from "./view.ts";

type More = Readonly<Record<string, unknown>>;

/** Phase of a workspace that a view shows, and the names that derive from it. */
export interface Phase {
  readonly is: "initializing" | "terminating";
  readonly verb: "initialize" | "terminate";
  /** Field of a WorkspaceType. */
  readonly flag: "initializer" | "terminator";
  readonly permissions: "initializerPermissions" | "terminatorPermissions";
  /** Field of a LogicalCluster's status. */
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

/** Creates a type whose owner uses the view of its workspaces. */
export const typed = (phase: Phase, name = "setup", more: More = {}): readonly Ask[] => [
  create(TYPES, workspaceType(name, { [phase.flag]: true, ...more }), quiet),
  get(`${TYPES}/${name}`, {
    until: { body: { status: { conditions: [{ type: "Ready", status: "True" }] } } },
    ...quiet,
  }),
];

/** Creates a workspace of a type, which waits for the owner. */
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

/** Waits until the view of a type contains the workspace. */
export const seen = (phase: Phase, type = "setup", kid = "kid"): Ask =>
  get(`${allOf(phase, type)}${CLUSTERS}`, {
    until: { body: { items: [{ metadata: { annotations: { "kcp.io/cluster": `$(${kid}.spec.cluster)` } } }] } },
    tell: ["kind"],
  });

/** Creates a type that both users may use, and a workspace of it. */
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

/** Rule for the workspaces of a type. */
export const owning = ({ verb }: Phase, more: More = {}): object => ({
  ...{ apiGroups: ["tenancy.kcp.io"], resources: ["workspacetypes"], resourceNames: ["setup"] },
  ...{ verbs: [verb], ...more },
});

/** Cases of a phase, as in an area. */
export type Cases = Readonly<Record<string, readonly Step[]>>;
