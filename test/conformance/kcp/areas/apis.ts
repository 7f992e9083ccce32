// APIResourceSchemas, APIExports and APIBindings: creation, rejection, binding and claims.
import {
  APIS,
  APIS2,
  apiBinding,
  apiExport,
  CRDS,
  configMap,
  crd,
  create,
  get,
  MAPS,
  may,
  merge,
  remove,
  resourceSchema,
  TABLE,
  WS,
  widget,
} from "../api.ts";
import { type Ask, area, type Step } from "../step.ts";

const SCHEMAS = `${WS}${APIS}/apiresourceschemas`;
const EXPORTS = `${WS}${APIS2}/apiexports`;
const BINDINGS = `${WS}${APIS2}/apibindings`;
const WIDGETS = `${WS}/apis/example.dev/v1/namespaces/default/widgets`;
const SETTLED = ["metadata.name", "metadata.annotations", "metadata.labels", "metadata.finalizers", "spec", "status"];
const CRDS_HERE = `${WS}${CRDS}`;
const CRD_OF = `${CRDS_HERE}/widgets.example.dev`;
const BOUND = { body: { status: { phase: "Bound" } } };
const IDENTIFIED = { body: { status: { conditions: [{ type: "IdentityValid", status: "True" }] } } };
const condition = (type: string, status: string) => ({ body: { status: { conditions: [{ type, status }] } } });
const quiet = { tell: ["metadata.name"] };

const exported: readonly Step[] = [
  create(SCHEMAS, resourceSchema(), quiet),
  create(EXPORTS, apiExport("widgets"), quiet),
  get(`${EXPORTS}/widgets`, { until: IDENTIFIED, tell: ["metadata.name"], as: "export" }),
];
const bound = (more: object = {}): readonly Ask[] => [
  create(BINDINGS, apiBinding("widgets", more as Record<string, unknown>), { until: { code: 201 }, ...quiet }),
  get(`${BINDINGS}/widgets`, { until: BOUND, tell: ["status.phase"] }),
];
const CLAIM = { group: "", resource: "configmaps", verbs: ["*"] };
const accepted = (state: string) => ({
  permissionClaims: [{ ...CLAIM, state, selector: { matchAll: true } }],
});

export const apis = area("apis", {
  schemas: [
    create(SCHEMAS, resourceSchema()),
    get(`${SCHEMAS}/v1.widgets.example.dev`),
    get(SCHEMAS, { headers: TABLE, tell: ["columnDefinitions"] }),
    merge(`${SCHEMAS}/v1.widgets.example.dev`, { spec: { scope: "Cluster" } }),
    merge(`${SCHEMAS}/v1.widgets.example.dev`, { metadata: { labels: { a: "b" } } }, { tell: ["metadata.labels"] }),
    create(SCHEMAS, resourceSchema("widgets.example.dev")),
    create(SCHEMAS, resourceSchema("v1.others.example.dev")),
    create(SCHEMAS, resourceSchema("v1.widgets.other.dev")),
    create(SCHEMAS, resourceSchema("v2.widgets.example.dev", { scope: "Nowhere" })),
    create(SCHEMAS, resourceSchema("v3.widgets.example.dev", { versions: [] })),
    create(
      SCHEMAS,
      resourceSchema("v4.widgets.example.dev", {
        versions: [{ name: "v1", served: true, storage: true, schema: { type: "nothing" } }],
      }),
    ),
    create(
      SCHEMAS,
      resourceSchema("v5.widgets.example.dev", {
        versions: [{ name: "v1", served: true, storage: false, schema: { type: "object" } }],
      }),
    ),
    remove(`${SCHEMAS}/v1.widgets.example.dev`),
  ],
  "an export": [
    create(SCHEMAS, resourceSchema(), quiet),
    create(EXPORTS, apiExport("widgets"), { tell: ["spec", "metadata.name"] }),
    get(`${EXPORTS}/widgets`, { until: IDENTIFIED, tell: SETTLED }),
    get(`${WS}${APIS}/apiexports/widgets`, { tell: ["apiVersion", "spec", "metadata.annotations"] }),
    get(EXPORTS, { headers: TABLE, tell: ["columnDefinitions"] }),
    get(`${WS}/api/v1/namespaces/kcp-system/secrets/widgets`, { tell: ["type", "metadata.name", "metadata.labels"] }),
    get(`${WS}${APIS}/apiexportendpointslices/widgets`, {
      until: { body: { kind: "APIExportEndpointSlice" } },
      tell: ["metadata.name", "metadata.annotations", "spec"],
    }),
  ],
  "exports that are none": [
    create(EXPORTS, apiExport("nothing")),
    create(EXPORTS, apiExport("Widgets")),
    create(EXPORTS, apiExport("a", { resources: [{ group: "example.dev", name: "widgets", schema: "widgets" }] })),
    create(
      EXPORTS,
      apiExport("b", {
        resources: [1, 2].map((at) => ({
          group: "example.dev",
          name: "widgets",
          schema: `v${at}.widgets.example.dev`,
          storage: { crd: {} },
        })),
      }),
    ),
    create(EXPORTS, apiExport("c", { permissionClaims: [{ group: "", resource: "configmaps" }] })),
    create(EXPORTS, apiExport("d", { permissionClaims: [{ group: "other.dev", resource: "things", verbs: ["*"] }] }), {
      tell: ["spec"],
    }),
    create(EXPORTS, apiExport("e", { permissionClaims: [CLAIM, CLAIM] })),
    create(EXPORTS, apiExport("f", { maximalPermissionPolicy: {} })),
    create(EXPORTS, apiExport("g", { maximalPermissionPolicy: { local: {} } }), { tell: ["spec"] }),
    create(EXPORTS, apiExport("h", { identity: { secretRef: { name: "nothing", namespace: "default" } } }), {
      tell: ["spec"],
    }),
    get(`${EXPORTS}/h`, { until: condition("IdentityValid", "False"), tell: ["status"] }),
    create(EXPORTS, apiExport("tenancy.kcp.io")),
  ],
  "an old export": [
    create(
      `${WS}${APIS}/apiexports`,
      {
        apiVersion: "apis.kcp.io/v1alpha1",
        kind: "APIExport",
        metadata: { name: "old" },
        spec: {
          latestResourceSchemas: ["v1.widgets.example.dev"],
          permissionClaims: [{ group: "", resource: "configmaps", all: true }],
        },
      },
      { tell: ["spec"] },
    ),
    get(`${EXPORTS}/old`, { until: IDENTIFIED, tell: ["apiVersion", "spec"] }),
    create(`${WS}${APIS}/apiexports`, {
      apiVersion: "apis.kcp.io/v1alpha1",
      kind: "APIExport",
      metadata: { name: "old2" },
      spec: { latestResourceSchemas: ["v1.a.b", "v1.a.b"] },
    }),
  ],
  "a binding": [
    ...exported,
    create(BINDINGS, apiBinding("widgets"), { until: { code: 201 }, tell: ["metadata.name", "spec"] }),
    get(`${BINDINGS}/widgets`, { until: BOUND, tell: SETTLED }),
    get(`${WS}${APIS}/apibindings/widgets`, { tell: ["apiVersion", "spec", "status.phase"] }),
    get(BINDINGS, { headers: TABLE, tell: ["columnDefinitions"] }),
    get(`${WS}/apis/example.dev/v1`, { until: { code: 200 } }),
    get(`${WS}/apis`, { names: "groups" }),
    create(WIDGETS, widget("a"), { until: { code: 201 } }),
    create(WIDGETS, widget("b", { size: 10 })),
    create(WIDGETS, widget("c", { size: 7 })),
    get(WIDGETS, { headers: TABLE, tell: ["columnDefinitions", "rows.cells"] }),
    get(`${WS}/apis/example.dev/v1/widgets:$(export.status.identityHash)`, { tell: ["kind", "items.metadata.name"] }),
    get(`/clusters/*/apis/example.dev/v1/widgets`, { user: "root" }),
    get(CRD_OF, { tell: ["kind"] }),
    get(`${EXPORTS}/widgets`, { tell: ["status.identityHash"] }),
    merge(`${BINDINGS}/widgets`, { spec: { reference: { export: { name: "other" } } } }),
    merge(`${BINDINGS}/widgets`, { metadata: { labels: { a: "b" } } }, { tell: ["metadata.labels"] }),
    remove(`${BINDINGS}/widgets`, { tell: ["kind", "status.phase"] }),
    get(`${BINDINGS}/widgets`, { until: { code: 404 } }),
    get(WIDGETS, { until: { code: 404 } }),
  ],
  "bindings that are none": [
    create(BINDINGS, apiBinding("a")),
    create(BINDINGS, apiBinding("b", {}, "root:nothing")),
    create(BINDINGS, apiBinding("Bad")),
    create(BINDINGS, apiBinding("c", { reference: {} })),
    create(BINDINGS, apiBinding("d", { reference: { export: { name: "" } } })),
    create(
      BINDINGS,
      apiBinding("e", { permissionClaims: [{ ...CLAIM, state: "Maybe", selector: { matchAll: true } }] }),
    ),
    create(BINDINGS, apiBinding("g", { reference: { export: { path: "Not A Path", name: "x" } } })),
  ],
  "a binding of nobody's permission": [
    ...exported,
    ...may("alice", { apiGroups: ["apis.kcp.io"], resources: ["apibindings"], verbs: ["*"] }),
    create(BINDINGS, apiBinding("widgets"), { user: "alice", until: { body: { details: { name: "widgets" } } } }),
    create(BINDINGS, apiBinding("other", {}, "root:nothing"), { user: "alice" }),
    create(BINDINGS, apiBinding("tenancy", { reference: { export: { path: "root", name: "tenancy.kcp.io" } } }), {
      user: "alice",
    }),
  ],
  "a binding whose kind is taken by a CRD": [
    ...exported,
    create(CRDS_HERE, crd(), { tell: ["metadata.name"] }),
    get(`${CRDS_HERE}/widgets.example.dev`, { until: condition("Established", "True"), tell: ["status.conditions"] }),
    create(BINDINGS, apiBinding("widgets"), { until: { code: 201 }, ...quiet }),
    get(`${BINDINGS}/widgets`, {
      until: { body: { status: { conditions: [{ reason: "NamingConflicts" }, { type: "PermissionClaimsApplied" }] } } },
      tell: ["status"],
    }),
  ],
  "a CRD whose kind is taken by a binding": [
    ...exported,
    ...bound(),
    create(CRDS_HERE, crd(), { tell: ["metadata.name"] }),
  ],
  "two bindings of one kind": [
    ...exported,
    ...bound(),
    create(BINDINGS, apiBinding("again"), { until: { code: 201 }, ...quiet }),
    get(`${BINDINGS}/again`, {
      until: { body: { status: { conditions: [{ reason: "NamingConflicts" }, { type: "PermissionClaimsApplied" }] } } },
      tell: ["status"],
    }),
  ],
  "a claim accepted": [
    create(SCHEMAS, resourceSchema(), quiet),
    create(EXPORTS, apiExport("widgets", { permissionClaims: [CLAIM] }), quiet),
    get(`${EXPORTS}/widgets`, { until: IDENTIFIED, tell: ["status.conditions"] }),
    create(`${WS}${MAPS}`, configMap("a"), quiet),
    ...bound(accepted("Accepted")),
    get(`${BINDINGS}/widgets`, { until: condition("PermissionClaimsApplied", "True"), tell: ["spec", "status"] }),
    get(`${WS}${APIS}/apibindings/widgets`, { tell: ["spec"] }),
    create(`${WS}${MAPS}`, configMap("b"), { tell: ["metadata.labels"] }),
    merge(`${BINDINGS}/widgets`, { spec: accepted("Rejected") }, { tell: ["spec"] }),
    get(`${WS}${MAPS}/b`, { tell: ["kind"] }),
  ],
  "a claim rejected": [
    create(SCHEMAS, resourceSchema(), quiet),
    create(EXPORTS, apiExport("widgets", { permissionClaims: [CLAIM] }), quiet),
    get(`${EXPORTS}/widgets`, { until: IDENTIFIED, tell: ["status.conditions"] }),
    ...bound(accepted("Rejected")),
    get(`${BINDINGS}/widgets`, { until: condition("PermissionClaimsApplied", "True"), tell: ["spec", "status"] }),
    create(`${WS}${MAPS}`, configMap("b"), { tell: ["metadata.labels"] }),
  ],
  "a claim that nobody made": [
    ...exported,
    create(BINDINGS, apiBinding("f", { permissionClaims: [{ ...CLAIM, state: "Accepted" }] }), {
      until: { code: 422 },
    }),
    ...bound(accepted("Accepted")),
    get(`${BINDINGS}/widgets`, { until: condition("PermissionClaimsValid", "False"), tell: ["spec", "status"] }),
  ],
});
