// Workspaces that wait for the bindings of their type. kcp creates these through the same view as all other clients.
import { create, get, merge, ofType, workspaceType } from "../../api.ts";
import { type Cases, CLUSTER, CLUSTERS, INITIALIZING, KIDS, rootOf, TYPES } from "../../lifecycle.ts";
import type { Ask, Step } from "../../step.ts";
import { quiet } from "../../view.ts";

const OWN = "system:apibindings";
const AT = `${rootOf(INITIALIZING, OWN)}/$(kid.spec.cluster)`;
const REVIEW = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
const AS_ROOT = { user: "root" } as const;

/** Workspace of a type whose export does not exist: it keeps waiting. */
const stuck: readonly Step[] = [
  create(TYPES, workspaceType("bound", { defaultAPIBindings: [{ path: "$(path)", export: "nothing" }] }), quiet),
  create(KIDS, ofType("kid", "bound", "$(path)"), { until: { code: 201 }, ...quiet }),
  get(`${KIDS}/kid`, {
    until: { body: { status: { phase: "Initializing", initializers: [OWN] } } },
    tell: ["status.phase", "status.initializers"],
    as: "kid",
  }),
  get(`${AT}${CLUSTER}`, {
    ...AS_ROOT,
    until: { body: { status: { conditions: [{ type: "APIBindingsInitialized", status: "False" }] } } },
    tell: ["kind", "status.initializers", "spec.initializers"],
  }),
];
const asked = (path: string): readonly Ask[] =>
  (["root", "admin", "alice"] as const).map((user) => get(path, { user, tell: ["kind"] }));

export const bindings: Cases = {
  "whose view it is": [
    ...stuck,
    get(`${AT}${CLUSTER}`, { ...AS_ROOT, tell: ["status.conditions", "metadata.labels"] }),
    ...asked(`${rootOf(INITIALIZING, OWN)}/*${CLUSTERS}`),
    ...asked(`${rootOf(INITIALIZING, OWN)}/*/apis`),
    ...asked(`${AT}${CLUSTER}`),
    ...asked(`${AT}/api/v1/namespaces`),
    create(`${AT}/apis/authentication.k8s.io/v1/selfsubjectreviews`, REVIEW, {
      ...AS_ROOT,
      tell: ["status.userInfo.username", "status.userInfo.groups"],
    }),
    merge(`${AT}${CLUSTER}/status`, { status: { initializers: ["root:universal", OWN] } }, AS_ROOT),
    merge(`${AT}${CLUSTER}/status`, { status: { initializers: [] } }, { user: "admin" }),
    merge(`${AT}${CLUSTER}/status`, { status: { initializers: [] } }, { ...AS_ROOT, tell: ["status.initializers"] }),
    get(`${KIDS}/kid`, { until: { body: { status: { phase: "Ready" } } }, tell: ["status.phase"] }),
    ...asked(`${AT}${CLUSTER}`),
    ...asked(`${AT}/api/v1/namespaces`),
  ],
};
