// Requests of kcp's kubectl plugins, by command, as `-v=8` logs them.
import { APIS2, apiExport, create, enters, get, merge, RBAC, ROOT, resourceSchema, TENANCY, WS } from "../api.ts";
import { type Ask, area, type User } from "../step.ts";

const HERE = "/clusters/$(path)";
const KID = `${HERE}:kid`;
const WORKSPACES = `${HERE}${TENANCY}/workspaces`;
const BINDINGS = `${KID}${APIS2}/apibindings`;
/** kcp writes the label after the phase. */
const READY = { body: { metadata: { labels: { "tenancy.kcp.io/phase": "Ready" } }, status: { phase: "Ready" } } };
const SETTLED = ["metadata.name", "metadata.labels", "spec", "status.phase", "status.conditions"];
const ACCEPT = {
  accept: ["v2", "v2beta1"]
    .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
    .concat("application/json")
    .join(),
};
const PLAIN = { accept: "application/json, */*" };

/** Objects in the form that Go clients send. */
const kid = (spec: object = {}): object => ({
  kind: "Workspace",
  apiVersion: "tenancy.kcp.io/v1alpha1",
  metadata: { name: "kid" },
  spec,
  status: {},
});
const binding = (name: string, path: string, permissionClaims: readonly object[]): object => ({
  kind: "APIBinding",
  apiVersion: "apis.kcp.io/v1alpha2",
  metadata: { name },
  spec: { reference: { export: { path, name: "widgets" } }, permissionClaims },
  status: {},
});
const plain = (path: string, more: Partial<Ask> = {}): Ask => get(path, { headers: PLAIN, ...more });
const post = (path: string, body: object, more: Partial<Ask> = {}): Ask =>
  create(path, body, { headers: PLAIN, ...more });

/** The plugin requests discovery to check that the workspace exists. */
const looks = (at: string, more: Partial<Ask> = {}): readonly Ask[] => [
  get(`${at}/api`, { headers: ACCEPT, tell: ["versions"], ...more }),
  get(`${at}/apis`, { headers: ACCEPT, tell: ["kind"], ...more }),
];

/** The plugin then lists bindings, to warn of claims that differ from the accepted ones. */
const goesTo = (at: string, more: Partial<Ask> = {}): readonly Ask[] => [
  ...looks(at, more),
  plain(`${at}${APIS2}/apibindings`, { tell: ["kind", "items.spec"], ...more }),
];

const made: readonly Ask[] = [
  post(WORKSPACES, kid(), { tell: ["kind", "metadata.name", "metadata.labels", "spec.type", "status"] }),
  plain(`${WORKSPACES}/kid`, { until: READY, tell: SETTLED }),
];

const claim = (resource: string, state: string): object => ({
  resource,
  verbs: ["*"],
  selector: { matchAll: true },
  state,
});
const bound = (name: string, more: Partial<Ask> = {}): Ask =>
  plain(`${BINDINGS}/${name}`, { tell: ["spec", "status.phase", "status.conditions"], ...more });
const isReady = { body: { status: { conditions: [{ type: "Ready", status: "True" }] } } };
const answers = (first: string, second: string): object => ({
  metadata: { name: "mine", resourceVersion: "$(mine.metadata.resourceVersion)" },
  spec: {
    reference: { export: { path: "$(path)", name: "widgets" } },
    permissionClaims: [
      { group: "", identityHash: "", ...claim("configmaps", first) },
      { group: "", identityHash: "", ...claim("secrets", second) },
    ],
  },
});
const replaces = (body: object, more: Partial<Ask> = {}): Ask => ({
  send: `PUT ${BINDINGS}/mine`,
  headers: PLAIN,
  body: { kind: "APIBinding", apiVersion: "apis.kcp.io/v1alpha2", ...body },
  ...more,
});
const CLAIMS = [
  { group: "", resource: "configmaps", verbs: ["get", "list"] },
  { group: "", resource: "secrets", verbs: ["*"] },
];
const offered: readonly Ask[] = [
  create(`${WS}/apis/apis.kcp.io/v1alpha1/apiresourceschemas`, resourceSchema(), { tell: ["metadata.name"] }),
  create(`${WS}${APIS2}/apiexports`, apiExport("widgets", { permissionClaims: CLAIMS }), { tell: ["spec"] }),
  ...made,
];

const home = (user: User): readonly Ask[] => [
  plain(`${ROOT}${TENANCY}/workspaces/~`, {
    user,
    until: { body: { status: { phase: "Ready" } } },
    as: "home",
    tell: ["metadata.name", "spec.type"],
  }),
  ...goesTo("/clusters/$(home.spec.cluster)", { user }),
];

const review = { kind: "SelfSubjectReview", apiVersion: "authentication.k8s.io/v1" };

export const plugins = area("plugins", {
  "create workspace, and enter it": [...made, ...goesTo(KID)],
  "create workspace that is there": [
    ...made,
    post(WORKSPACES, kid()),
    post(WORKSPACES, kid({ type: { name: "universal", path: "root" } })),
    plain(`${WORKSPACES}/kid`, { tell: ["spec.type"] }),
  ],
  "create workspace of types that are none": [
    post(WORKSPACES, kid({ type: { name: "nothing" } })),
    post(WORKSPACES, kid({ type: { name: "here", path: "root:nothing" } })),
    post(WORKSPACES, kid({ type: { name: "universal", path: "root" } }), { user: "alice" }),
  ],
  "ws kid, ws .., ws nothing": [
    ...made,
    ...goesTo(KID),
    plain(`${WORKSPACES}/kid`, { tell: SETTLED }),
    ...goesTo(HERE),
    ...looks(`${HERE}:nothing`),
    plain("/clusters/apis/tenancy.kcp.io/v1alpha1/workspaces/$(ws)"),
  ],
  "ws tree": [
    ...made,
    plain(WORKSPACES, { tell: ["kind", "items.metadata.name", "items.spec.type"] }),
    plain(`${KID}${TENANCY}/workspaces`, { tell: ["kind", "items"] }),
  ],
  "ws by others": [
    ...made,
    ...looks(HERE, { user: "alice" }),
    ...looks(`${HERE}:nothing`, { user: "alice" }),
    plain(WORKSPACES, { user: "alice" }),
    enters("bob"),
    get(`${HERE}/api`, { user: "bob", headers: ACCEPT, until: { code: 200 }, tell: ["versions"] }),
    ...looks(KID, { user: "bob" }),
    plain(WORKSPACES, { user: "bob" }),
    plain(`${HERE}${APIS2}/apibindings`, { user: "bob" }),
  ],
  "ws ~": [...home("alice"), ...looks("/clusters/$(home.spec.cluster)", { user: "bob" })],
  "kcp bind apiexport": [
    ...offered,
    post(BINDINGS, binding("mine", "$(path)", [claim("configmaps", "Accepted"), claim("secrets", "Rejected")]), {
      tell: ["spec", "metadata.finalizers"],
    }),
    bound("mine", { until: isReady }),
    post(BINDINGS, binding("mine", "$(path)", [])),
    post(BINDINGS, binding("other", "$(path):nothing", [])),
    post(BINDINGS, binding("other", "root:nothing", [])),
    post(BINDINGS, binding("other", "$(path)", []), { user: "alice" }),
    plain(BINDINGS, { tell: ["kind", "items.spec"] }),
  ],
  "kcp claims accept and reject": [
    ...offered,
    post(BINDINGS, binding("mine", "$(path)", [claim("configmaps", "Accepted"), claim("secrets", "Rejected")]), {
      tell: ["spec"],
    }),
    bound("mine", { until: isReady, as: "mine" }),
    bound("nothing"),
    merge(`${BINDINGS}/mine`, { metadata: { labels: { touched: "yes" } } }, { tell: ["metadata.labels.touched"] }),
    replaces(answers("Accepted", "Accepted")),
    replaces({ ...answers("Rejected", "Accepted"), metadata: { name: "mine" } }),
  ],
  "as others, by path": [
    enters("bob"),
    ...[HERE, WS].map((at) =>
      post(`${at}/apis/authentication.k8s.io/v1/selfsubjectreviews`, review, {
        headers: { "impersonate-user": "bob" },
        until: { code: 201 },
      }),
    ),
    plain(`${HERE}${RBAC}/roles`, { headers: { "impersonate-user": "bob" } }),
    plain(`${HERE}${RBAC}/roles`, {
      headers: { "impersonate-user": "bob", "impersonate-group": "system:masters" },
    }),
    plain(`${HERE}:nothing${RBAC}/roles`, { headers: { "impersonate-user": "bob" } }),
  ],
});
