// Authorization in the view of an export.
import {
  apiExport,
  clusterRole,
  clusterRoleBinding,
  create,
  get,
  may,
  merge,
  RBAC,
  remove,
  resourceSchema,
  user,
  WS,
  widget,
} from "../../api.ts";
import { type Ask, area, type Step, type User } from "../../step.ts";
import {
  ALL,
  binds,
  bound,
  claim,
  EXPORTS,
  exports,
  GROUP,
  identified,
  lets,
  ONE,
  quiet,
  SCHEMAS,
  served,
  VIEW,
  WIDGETS,
} from "../../view.ts";

const content = (...verbs: readonly string[]) => ({
  ...{ apiGroups: ["apis.kcp.io"], resources: ["apiexports/content"], resourceNames: ["widgets"] },
  verbs,
});
const EVERY = `${ALL}${GROUP}/widgets`;
const USERS: readonly User[] = ["root", "admin", "alice", "bob", "nobody", "stranger"];
const asked = (path: string, more: Partial<Ask> = {}): readonly Ask[] =>
  USERS.map((one) => get(path, { user: one, tell: ["kind"], ...more }));
const NOTHING = "/services/apiexport/$(ws)/nothing/clusters";
const gadgets = { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList" };
const GADGETS = `${GROUP}/namespaces/default/gadgets`;
const POLICY = { maximalPermissionPolicy: { local: {} } };
const policed: readonly Step[] = [
  create(SCHEMAS, resourceSchema("v1.gadgets.example.dev", { names: gadgets }), quiet),
  create(
    EXPORTS,
    apiExport("gadgets", {
      resources: [{ group: "example.dev", name: "gadgets", schema: "v1.gadgets.example.dev", storage: { crd: {} } }],
      ...POLICY,
    }),
    quiet,
  ),
  identified("gadgets"),
  ...binds([], "gadgets"),
  create(
    `${WS}${RBAC}/clusterroles`,
    clusterRole("policy", [{ apiGroups: ["example.dev"], resources: ["gadgets"], verbs: ["get", "list"] }]),
    { user: "root", ...quiet },
  ),
  create(
    `${WS}${RBAC}/clusterrolebindings`,
    clusterRoleBinding("policy", "policy", [user("apis.kcp.io:binding:alice")]),
    {
      user: "root",
      ...quiet,
    },
  ),
];

export const viewAccess = area("view-access", {
  "who may": [
    ...bound(),
    ...may("alice", content("*")),
    get(EVERY, { user: "alice", until: { code: 200 }, tell: ["kind"] }),
    ...asked(EVERY),
    ...asked(`${ONE}${WIDGETS}`),
    ...asked(`${ONE}/apis`),
    ...asked(`${ONE}/openapi/v3`),
    ...asked(`${ONE}/version`),
    ...asked(`${ALL}/nothing`),
    ...asked(`${ALL}${GROUP}/things`),
    ...asked(`${ONE}${GROUP}/things`),
  ],
  "by verbs": [
    ...bound(),
    create(`${WS}${WIDGETS}`, widget("a"), quiet),
    ...may("alice", content("get", "create")),
    get(`${ONE}${WIDGETS}/a`, { user: "alice", until: { code: 200 }, ...quiet }),
    get(`${ONE}${WIDGETS}`, { user: "alice" }),
    get(`${ONE}${WIDGETS}?watch=true`, { user: "alice" }),
    get(EVERY, { user: "alice" }),
    get(`${ONE}/apis`, { user: "alice", tell: ["kind"] }),
    create(`${ONE}${WIDGETS}`, widget("b"), { user: "alice", ...quiet }),
    merge(`${ONE}${WIDGETS}/b`, { spec: { size: 2 } }, { user: "alice" }),
    merge(`${ONE}${WIDGETS}/b/status`, { status: { ready: true } }, { user: "alice" }),
    remove(`${ONE}${WIDGETS}/b`, { user: "alice" }),
    remove(`${ONE}${WIDGETS}`, { user: "alice" }),
    { send: `PUT ${ONE}${WIDGETS}/b`, body: widget("b"), user: "alice" },
    {
      send: `PATCH ${ONE}${WIDGETS}/c?fieldManager=one`,
      headers: { "content-type": "application/apply-patch+yaml" },
      body: widget("c"),
      user: "alice",
    },
  ],
  "by patch without create": [
    ...bound(),
    ...may("alice", content("get", "patch")),
    get(`${ONE}/apis`, { user: "alice", until: { code: 200 }, tell: ["kind"] }),
    {
      send: `PATCH ${ONE}${WIDGETS}/c?fieldManager=one`,
      headers: { "content-type": "application/apply-patch+yaml" },
      body: widget("c"),
      user: "alice",
    },
    get(`${ONE}${WIDGETS}/c`, { tell: ["kind"] }),
  ],
  "of what another export has a policy about": [
    ...policed,
    ...bound([claim("gadgets", { group: "example.dev", identityHash: "$(gadgets.status.identityHash)" })]),
    ...may("alice", content("*")),
    get(EVERY, { user: "alice", until: { code: 200 }, tell: ["kind"] }),
    get(`${ALL}${GROUP}/gadgets`, { user: "alice", until: { code: 200 }, tell: ["kind"] }),
    get(`${ALL}${GROUP}/gadgets?watch=true`, { user: "alice" }),
    create(
      `${ONE}${GADGETS}`,
      { apiVersion: "example.dev/v1", kind: "Gadget", metadata: { name: "a" } },
      { user: "alice" },
    ),
    remove(`${ONE}${GADGETS}/a`, { user: "alice" }),
    get(`${ALL}${GROUP}/gadgets`, { user: "admin" }),
    get(`${ALL}${GROUP}/gadgets`, { user: "root", tell: ["kind"] }),
  ],
  "no binding": [
    ...exports(),
    served(),
    ...asked(`${ONE}${WIDGETS}`),
    create(`${ONE}${WIDGETS}`, widget("a")),
    get(`${VIEW}/clusters/root${GROUP}/widgets`),
    get(`${VIEW}/clusters/nothing${GROUP}/widgets`),
    get(`${VIEW}/clusters/nothing${GROUP}/widgets`, { user: "root" }),
    get(`${VIEW}/clusters/nothing/apis`, { tell: ["kind"] }),
    get(`${VIEW}/clusters/root/apis`, { tell: ["kind"] }),
  ],
  "no export": [
    ...bound(),
    ...asked(`${NOTHING}/*/apis`),
    ...asked(`${NOTHING}/*${GROUP}/widgets`),
    ...asked(`${NOTHING}/$(ws)/apis`),
    ...asked(`${NOTHING}/$(ws)${GROUP}/widgets`),
    get("/services/apiexport/nothing/widgets/clusters/*/apis"),
    get("/services/apiexport/nothing/widgets/clusters/*/apis", { user: "root" }),
    get("/services/apiexport/nothing/widgets/clusters/*/apis", { user: "alice" }),
  ],
  "of an export without identity": [
    create(SCHEMAS, resourceSchema(), quiet),
    create(
      EXPORTS,
      apiExport("widgets", { identity: { secretRef: { name: "nothing", namespace: "default" } } }),
      quiet,
    ),
    get(`${EXPORTS}/widgets`, {
      until: { body: { status: { conditions: [{ type: "IdentityValid", status: "False" }] } } },
      ...quiet,
    }),
    get(`${ONE}${WIDGETS}`, { until: { code: 403 } }),
    get(`${ALL}/apis`),
    get(EVERY),
    get(`${ALL}/apis`, { user: "root" }),
  ],
  "as somebody else": [
    ...bound(),
    get(EVERY, { user: "root", headers: { "impersonate-user": "alice" } }),
    get(EVERY, {
      user: "root",
      headers: { "impersonate-user": "alice", "impersonate-group": "system:kcp:admin" },
      tell: ["kind"],
    }),
    get(EVERY, { user: "admin", headers: { "impersonate-user": "alice" } }),
    get(EVERY, {
      user: "alice",
      headers: { "impersonate-user": "kcp-admin", "impersonate-group": "system:kcp:admin" },
    }),
    get(EVERY, { user: "alice", headers: { "x-remote-user": "kcp-admin", "x-remote-group": "system:masters" } }),
  ],
  hops: [
    ...bound(),
    lets(),
    ...["0", "3", "4", "x", "-1"].flatMap((hops) =>
      [EVERY, `${ONE}${WIDGETS}`].map((path) =>
        get(path, { headers: { "x-kcp-virtual-resource-hops": hops }, tell: ["kind"] }),
      ),
    ),
  ],
});
