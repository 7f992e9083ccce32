// Workspaces: creation, lists, rejection and deletion; and their logical clusters.
import {
  CORE,
  create,
  enters,
  get,
  may,
  merge,
  ofType,
  ROOT,
  remove,
  TABLE,
  TENANCY,
  WS,
  workspace,
  workspaceType,
} from "../api.ts";
import { area } from "../step.ts";

const WORKSPACES = `${WS}${TENANCY}/workspaces`;
const TYPES = `${WS}${TENANCY}/workspacetypes`;
/** kcp writes the label after the phase. */
const READY = { body: { metadata: { labels: { "tenancy.kcp.io/phase": "Ready" } }, status: { phase: "Ready" } } };
const GONE = { code: 404 };
const SETTLED = ["metadata.name", "metadata.annotations", "metadata.finalizers", "metadata.labels", "spec", "status"];
const IN_ROOT = `${ROOT}${TENANCY}/workspaces`;
const ORGANIZATION = "/clusters/root:$(name)o";
const CHILD = "/clusters/$(path):child";

export const workspaces = area("workspaces", {
  "one is made": [
    create(WORKSPACES, workspace("child"), { tell: ["kind", "metadata.name", "spec"] }),
    get(`${WORKSPACES}/child`, { until: READY, tell: SETTLED, as: "child" }),
    get(`${CHILD}${CORE}/logicalclusters/cluster`, { tell: SETTLED }),
    get(`${CHILD}/api/v1/namespaces`, { tell: ["kind", "items.metadata.name"] }),
    get(`${CHILD}/apis/rbac.authorization.k8s.io/v1/clusterrolebindings`, {
      tell: ["items.metadata.name", "items.roleRef", "items.subjects"],
    }),
    get(`${CHILD}/apis/rbac.authorization.k8s.io/v1/clusterroles`, { tell: ["items.metadata.name"] }),
    get(`${CHILD}/apis/apis.kcp.io/v1alpha2/apibindings`, { tell: ["items.spec"] }),
    get(`${CHILD}/apis/apis.kcp.io/v1alpha2/apiexports`, { tell: ["items.metadata.name"] }),
  ],
  "one is made with all that one may say": [
    create(WORKSPACES, { ...ofType("child", "universal"), metadata: { name: "child", labels: { a: "b" } } }),
    get(`${WORKSPACES}/child`, { until: READY, tell: SETTLED }),
  ],
  "of each type": [
    ...["universal", "organization", "team", "home", "root"].flatMap((type) => [
      create(WORKSPACES, ofType(type, type), { tell: ["spec.type", "metadata.name"] }),
    ]),
    create(WORKSPACES, ofType("other", "nothing")),
    create(WORKSPACES, ofType("other", "universal", "root:nothing")),
    create(WORKSPACES, ofType("other", "Bad_Name")),
    create(WORKSPACES, workspace("unqualified", { spec: { type: { name: "universal" } } })),
    create(WORKSPACES, workspace("empty", { spec: { type: {} } })),
  ],
  "in an organization": [
    create(IN_ROOT, ofType("$(name)o", "organization"), { tell: ["spec.type"] }),
    get(`${IN_ROOT}/$(name)o`, { until: READY, tell: ["spec.type", "status.conditions"] }),
    create(`${ORGANIZATION}${TENANCY}/workspaces`, ofType("a", "organization")),
    create(`${ORGANIZATION}${TENANCY}/workspaces`, ofType("b", "team"), { tell: ["spec.type"] }),
    create(`${ORGANIZATION}${TENANCY}/workspaces`, workspace("c"), { tell: ["spec.type"] }),
    get(`${ORGANIZATION}/api/v1/namespaces`, { tell: ["items.metadata.name"] }),
    remove(`${IN_ROOT}/$(name)o`, { tell: ["kind"] }),
  ],
  "bad names and bodies": [
    ...["Child", "a.b", "a:b", "1a", "-a", "x".repeat(64), ""].map((name) => create(WORKSPACES, workspace(name))),
    create(WORKSPACES, workspace("other", { spec: { nothing: 1 } }), { tell: ["spec"] }),
    create(`${WORKSPACES}?fieldValidation=Strict`, workspace("strict", { spec: { nothing: 1 } })),
    create(WORKSPACES, workspace("other2", { spec: { type: "universal" } })),
    create(WORKSPACES, workspace("other3", { spec: { cluster: "root" } })),
    create(WORKSPACES, workspace("other4", { spec: { URL: "https://example.dev" } })),
    create(WORKSPACES, workspace("other5", { spec: { location: { selector: { matchLabels: { a: "b" } } } } }), {
      tell: ["spec"],
    }),
    create(WORKSPACES, workspace("other6", { spec: { mount: { ref: { apiVersion: "v1", kind: "X", name: "x" } } } })),
  ],
  "names that are taken": [
    create(WORKSPACES, workspace("child"), { tell: ["metadata.name"] }),
    create(WORKSPACES, workspace("child")),
  ],
  "as tables": [
    create(WORKSPACES, workspace("child"), { tell: ["metadata.name"] }),
    get(`${WORKSPACES}/child`, { until: READY, tell: ["status.phase"] }),
    get(`${WORKSPACES}`, { headers: TABLE, tell: ["columnDefinitions", "rows.cells"] }),
    get(`${WORKSPACES}/child`, { headers: TABLE, tell: ["columnDefinitions", "rows.cells"] }),
    get(`${TYPES}`, { headers: TABLE, tell: ["columnDefinitions", "rows.cells"] }),
    get(`${ROOT}${TENANCY}/workspacetypes`, { headers: TABLE, tell: ["columnDefinitions"] }),
    get(`${WS}${CORE}/logicalclusters`, { headers: TABLE, tell: ["columnDefinitions", "rows.cells"] }),
    get(`${ROOT}${CORE}/shards`, { headers: TABLE, tell: ["columnDefinitions"] }),
  ],
  "what of it can be changed": [
    create(WORKSPACES, workspace("child"), { tell: ["metadata.name"] }),
    get(`${WORKSPACES}/child`, { until: READY, tell: ["status.phase"] }),
    merge(`${WORKSPACES}/child`, { metadata: { labels: { a: "b" } } }, { tell: ["metadata.labels"] }),
    merge(`${WORKSPACES}/child`, { spec: { type: { name: "organization" } } }),
    merge(`${WORKSPACES}/child`, { spec: { cluster: "root" } }),
    merge(`${WORKSPACES}/child`, { spec: { URL: "https://example.dev" } }),
    merge(`${WORKSPACES}/child`, { spec: { location: { selector: { matchLabels: { a: "b" } } } } }, { tell: ["spec"] }),
    merge(`${WORKSPACES}/child/status`, { status: { phase: "Nothing" } }),
    merge(`${WORKSPACES}/child`, { metadata: { annotations: { "internal.tenancy.kcp.io/cluster": "root" } } }),
    merge(
      `${WORKSPACES}/child`,
      { metadata: { annotations: { "experimental.tenancy.kcp.io/owner": "{}" } } },
      {
        tell: ["metadata.annotations"],
      },
    ),
  ],
  "without permission": [
    get(WORKSPACES, { user: "alice" }),
    create(WORKSPACES, workspace("child"), { user: "alice" }),
    enters("alice"),
    get(WORKSPACES, { user: "alice" }),
    create(WORKSPACES, workspace("child"), { user: "alice" }),
    remove(`${WORKSPACES}/child`, { user: "alice" }),
    get(`${WS}/api`, { user: "alice", until: { code: 200 }, tell: ["versions"] }),
  ],
  "with permission to make some": [
    ...may("alice", { apiGroups: ["tenancy.kcp.io"], resources: ["workspaces"], verbs: ["create", "get", "list"] }),
    get(WORKSPACES, { user: "alice", until: { code: 200 }, tell: ["items"] }),
    create(WORKSPACES, ofType("child", "universal"), { user: "alice", tell: ["metadata.annotations", "spec.type"] }),
    create(WORKSPACES, ofType("other", "organization"), { user: "alice" }),
    remove(`${WORKSPACES}/child`, { user: "alice" }),
  ],
  "whose creator is its administrator": [
    ...may("alice", { apiGroups: ["tenancy.kcp.io"], resources: ["*"], verbs: ["*"] }),
    create(WORKSPACES, workspace("child"), {
      user: "alice",
      until: { body: { kind: "Workspace" } },
      tell: ["metadata.annotations", "spec.type"],
    }),
    get(`${WORKSPACES}/child`, { user: "alice", until: READY, tell: SETTLED }),
    get(`${CHILD}/apis/rbac.authorization.k8s.io/v1/clusterrolebindings`, { user: "alice", until: { code: 200 } }),
    get(`${CHILD}/api/v1/namespaces`, { user: "bob" }),
    get(`${CHILD}${CORE}/logicalclusters/cluster`, { user: "alice", tell: ["metadata.annotations", "spec", "status"] }),
  ],
  "one is deleted": [
    create(WORKSPACES, workspace("child"), { tell: ["metadata.name"] }),
    get(`${WORKSPACES}/child`, { until: READY, tell: ["status.phase"] }),
    remove(`${WORKSPACES}/child`, { tell: ["kind", "metadata.name", "metadata.finalizers", "status"] }),
    get(`${WORKSPACES}/child`, { until: GONE }),
    get(`${CHILD}/api/v1/namespaces`, { until: GONE }),
    remove(`${WORKSPACES}/child`),
  ],
  "one is deleted by its logical cluster": [
    create(WORKSPACES, workspace("child"), { tell: ["metadata.name"] }),
    get(`${WORKSPACES}/child`, { until: READY, tell: ["status.phase"] }),
    remove(`${CHILD}${CORE}/logicalclusters/cluster`, { tell: ["kind"] }),
    remove(`${CHILD}${CORE}/logicalclusters/cluster`, { user: "alice" }),
  ],
  "seen by a watch": [
    {
      watch: `${WORKSPACES}?watch=true`,
      meanwhile: create(WORKSPACES, workspace("child")),
      until: { object: READY.body },
      tell: ["object.metadata.name", "object.status.phase"],
    },
    {
      watch: `${WORKSPACES}?watch=true&fieldSelector=metadata.name=child`,
      meanwhile: remove(`${WORKSPACES}/child`),
      until: { type: "DELETED" },
      tell: ["object.metadata.name", "object.status.phase"],
    },
  ],
  "the logical cluster": [
    get(`${WS}${CORE}/logicalclusters`, { tell: ["kind", "items.metadata.name"] }),
    get(`${WS}${CORE}/logicalclusters/cluster`, { tell: SETTLED }),
    get(`${ROOT}${CORE}/logicalclusters/cluster`, { tell: SETTLED }),
    get(`${WS}${CORE}/logicalclusters/other`),
    create(`${WS}${CORE}/logicalclusters`, {
      apiVersion: "core.kcp.io/v1alpha1",
      kind: "LogicalCluster",
      metadata: { name: "cluster" },
    }),
    create(`${WS}${CORE}/logicalclusters`, {
      apiVersion: "core.kcp.io/v1alpha1",
      kind: "LogicalCluster",
      metadata: { name: "other" },
    }),
    merge(`${WS}${CORE}/logicalclusters/cluster`, { metadata: { labels: { a: "b" } } }, { tell: ["metadata.labels"] }),
    merge(`${WS}${CORE}/logicalclusters/cluster`, { spec: { directlyDeletable: true } }),
    merge(`${WS}${CORE}/logicalclusters/cluster`, { spec: { initializers: ["root:other"] } }),
    merge(`${WS}${CORE}/logicalclusters/cluster/status`, { status: { initializers: ["root:other"] } }),
    merge(`${WS}${CORE}/logicalclusters/cluster/status`, { status: { phase: "Initializing" } }),
    remove(`${WS}${CORE}/logicalclusters/cluster`),
    remove(`${ROOT}${CORE}/logicalclusters/cluster`),
  ],
  types: [
    ...["universal", "organization", "team", "home", "root"].map((name) =>
      get(`${ROOT}${TENANCY}/workspacetypes/${name}`, {
        tell: ["metadata.name", "metadata.annotations", "spec", "status"],
      }),
    ),
  ],
  "types of one's own": [
    create(TYPES, workspaceType("small", {}), { tell: ["spec"] }),
    get(`${TYPES}/small`, {
      until: { body: { status: { conditions: [{ type: "Ready", status: "True" }] } } },
      tell: ["spec", "status"],
    }),
    create(WORKSPACES, ofType("child", "small", "$(path)"), {
      until: { body: { kind: "Workspace" } },
      tell: ["spec.type", "metadata.name"],
    }),
    get(`${WORKSPACES}/child`, { until: READY, tell: ["status.phase", "status.conditions"] }),
    get(`${CHILD}/api/v1/namespaces`, { tell: ["items.metadata.name"] }),
    create(WORKSPACES, workspace("unqualified", { spec: { type: { name: "small" } } })),
  ],
  "types that are none": [
    ...["Small", "a.b", "1a"].map((name) => create(TYPES, workspaceType(name, {}))),
    create(TYPES, workspaceType("a", { limitAllowedChildren: { types: [] } })),
    create(TYPES, workspaceType("b", { limitAllowedChildren: { none: true, types: [{ name: "x", path: "root" }] } })),
    create(TYPES, workspaceType("c", { extend: { with: [{ name: "nothing", path: "root" }] } }), { tell: ["spec"] }),
    get(`${TYPES}/c`, {
      until: { body: { status: { conditions: [{ type: "Ready", status: "True" }] } } },
      tell: ["status"],
    }),
    create(TYPES, workspaceType("d", { defaultAPIBindings: [{ export: "x", path: "not a path" }] })),
    create(TYPES, workspaceType("e", { defaultChildWorkspaceType: { name: "nothing", path: "root" } }), {
      tell: ["spec"],
    }),
    get(`${TYPES}/e`, {
      until: { body: { status: { conditions: [{ type: "Ready", status: "True" }] } } },
      tell: ["status"],
    }),
    create(WORKSPACES, ofType("child", "c", "$(path)")),
    create(TYPES, workspaceType("f", { initializer: "yes" })),
  ],
  "types that limit what is in them and where they are": [
    create(TYPES, workspaceType("leaf", { limitAllowedChildren: { none: true } }), { tell: ["spec"] }),
    create(TYPES, workspaceType("inner", { limitAllowedParents: { types: [{ name: "team", path: "root" }] } }), {
      tell: ["spec"],
    }),
    get(`${TYPES}/leaf`, {
      until: { body: { status: { conditions: [{ type: "Ready", status: "True" }] } } },
      tell: ["status"],
    }),
    get(`${TYPES}/inner`, {
      until: { body: { status: { conditions: [{ type: "Ready", status: "True" }] } } },
      tell: ["status"],
    }),
    create(WORKSPACES, ofType("child", "leaf", "$(path)"), {
      until: { body: { kind: "Workspace" } },
      tell: ["spec.type"],
    }),
    create(WORKSPACES, ofType("other", "inner", "$(path)")),
    get(`${WORKSPACES}/child`, { until: READY, tell: ["status.phase"] }),
    create(`${CHILD}${TENANCY}/workspaces`, ofType("c", "universal")),
  ],
  "an initializer of a type": [
    create(
      TYPES,
      workspaceType("slow", { initializer: true, extend: { with: [{ name: "universal", path: "root" }] } }),
      {
        tell: ["spec"],
      },
    ),
    get(`${TYPES}/slow`, {
      until: { body: { status: { conditions: [{ type: "Ready", status: "True" }] } } },
      tell: ["status"],
    }),
    create(WORKSPACES, ofType("child", "slow", "$(path)"), {
      until: { body: { kind: "Workspace" } },
      tell: ["spec.type"],
    }),
    get(`${WORKSPACES}/child`, {
      until: {
        body: {
          status: {
            phase: "Initializing",
            conditions: [{ type: "WorkspaceInitialized" }],
            initializers: ["$(ws):slow"],
          },
        },
      },
      tell: ["status.phase"],
    }),
    get(`${WORKSPACES}/child`, { headers: TABLE, tell: ["rows.cells"] }),
    get(`${CHILD}${CORE}/logicalclusters/cluster`, {
      until: { body: { status: { initializers: ["$(ws):slow"] } } },
      tell: ["spec.initializers", "status.phase"],
    }),
    get(`${CHILD}/api/v1/namespaces`, { user: "alice" }),
  ],
});
