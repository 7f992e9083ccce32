// Authorization, and the reviews that answer for it.
import {
  clusterRole,
  clusterRoleBinding,
  create,
  enters,
  get,
  MAPS,
  may,
  NAMESPACES,
  RBAC,
  ROOT,
  remove,
  TABLE,
  user,
  WS,
} from "../api.ts";
import { type Ask, area } from "../step.ts";

const ROLES = `${WS}${RBAC}/clusterroles`;
const BINDINGS = `${WS}${RBAC}/clusterrolebindings`;
const AUTHZ = "apis/authorization.k8s.io/v1";
const review = (kind: string, spec: object, more: Partial<Ask> = {}): Ask =>
  create(`${WS}/${AUTHZ}/${kind.toLowerCase()}s`, { apiVersion: "authorization.k8s.io/v1", kind, spec }, more);
const LISTS = { verb: "list", resource: "configmaps", namespace: "default" };
const READER = { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] };

export const access = area("access", {
  "roles and bindings": [
    create(ROLES, clusterRole("a", [READER])),
    create(ROLES, clusterRole("b", [{ apiGroups: [""], resources: ["configmaps"] }])),
    create(ROLES, clusterRole("c", [{ verbs: ["get"], nonResourceURLs: ["/healthz"], resources: ["x"] }])),
    create(BINDINGS, clusterRoleBinding("a", "a", [user("alice")])),
    create(BINDINGS, clusterRoleBinding("b", "nothing", [user("alice")]), { tell: ["roleRef"] }),
    create(BINDINGS, clusterRoleBinding("c", "a", [{ kind: "Nobody", name: "x" }])),
    create(BINDINGS, clusterRoleBinding("d", "", [])),
    get(ROLES, { headers: TABLE, tell: ["columnDefinitions", "rows.cells"] }),
    get(BINDINGS, { headers: TABLE, tell: ["columnDefinitions", "rows.cells"] }),
    get(`${ROLES}/cluster-admin`),
    get(`${ROLES}/system:kcp:workspace:access`),
    get(`${ROOT}${RBAC}/clusterroles`, { tell: ["items.metadata.name", "items.rules"] }),
    get(`${ROOT}${RBAC}/clusterrolebindings`, {
      tell: ["items.metadata.name", "items.roleRef.name", "items.subjects"],
    }),
  ],
  "the roles that are there from the start": [
    get(`/clusters/system:admin${RBAC}/clusterroles`, { user: "root", tell: ["items.metadata.name"] }),
    get(`/clusters/system:admin${RBAC}/clusterrolebindings`, {
      user: "root",
      tell: ["items.metadata.name", "items.roleRef.name"],
    }),
  ],
  "one reads what one may": [
    ...may("alice", READER),
    get(`${WS}${MAPS}`, { user: "alice", until: { code: 200 }, tell: ["kind"] }),
    get(`${WS}${MAPS}/nothing`, { user: "alice" }),
    remove(`${WS}${MAPS}/nothing`, { user: "alice" }),
    get(`${WS}${NAMESPACES}`, { user: "alice" }),
    get(`${WS}/apis`, { user: "alice", tell: ["kind"] }),
    get(`${WS}/version`, { user: "alice", tell: ["major"] }),
    get(`${WS}/healthz`, { user: "alice" }),
    get(`${WS}/nothing`, { user: "alice" }),
  ],
  "nobody gives more than he has": [
    ...may("alice", { apiGroups: ["rbac.authorization.k8s.io"], resources: ["*"], verbs: ["get", "create"] }),
    create(ROLES, clusterRole("more", [READER]), {
      user: "alice",
      until: { code: 403, body: { details: { name: "more" } } },
    }),
    create(BINDINGS, clusterRoleBinding("more", "cluster-admin", [user("alice")]), { user: "alice" }),
    create(BINDINGS, clusterRoleBinding("none", "nothing", [user("alice")]), { user: "alice" }),
  ],
  "access reviews": [
    ...may("alice", READER),
    get(`${WS}${MAPS}`, { user: "alice", until: { code: 200 }, tell: ["kind"] }),
    review("SubjectAccessReview", { user: "alice", resourceAttributes: LISTS }),
    review("SubjectAccessReview", { user: "alice", groups: ["system:authenticated"], resourceAttributes: LISTS }),
    review("SubjectAccessReview", {
      user: "alice",
      groups: ["system:authenticated"],
      resourceAttributes: { ...LISTS, verb: "delete" },
    }),
    review("SubjectAccessReview", { user: "bob", groups: ["system:authenticated"], resourceAttributes: LISTS }),
    review("SubjectAccessReview", { groups: ["system:masters"], resourceAttributes: LISTS }),
    review("SubjectAccessReview", { user: "alice" }),
    review("SubjectAccessReview", { resourceAttributes: LISTS }),
    review("SubjectAccessReview", {
      user: "alice",
      groups: ["system:authenticated"],
      nonResourceAttributes: { path: "/healthz", verb: "get" },
    }),
    review("SelfSubjectAccessReview", { resourceAttributes: LISTS }, { user: "alice" }),
    review("SelfSubjectAccessReview", { resourceAttributes: { ...LISTS, verb: "delete" } }, { user: "alice" }),
    review("SelfSubjectAccessReview", { nonResourceAttributes: { path: "/", verb: "access" } }, { user: "alice" }),
    review("SelfSubjectAccessReview", { resourceAttributes: LISTS }, { user: "bob" }),
    review("SelfSubjectRulesReview", { namespace: "default" }, { user: "alice" }),
    review("SelfSubjectRulesReview", {}, { user: "alice" }),
    review("SubjectAccessReview", { user: "bob", resourceAttributes: LISTS }, { user: "alice" }),
    create(`${WS}/${AUTHZ}/namespaces/default/localsubjectaccessreviews`, {
      apiVersion: "authorization.k8s.io/v1",
      kind: "LocalSubjectAccessReview",
      metadata: { namespace: "default" },
      spec: { user: "alice", groups: ["system:authenticated"], resourceAttributes: LISTS },
    }),
    create(`${WS}/${AUTHZ}/namespaces/default/localsubjectaccessreviews`, {
      apiVersion: "authorization.k8s.io/v1",
      kind: "LocalSubjectAccessReview",
      metadata: { namespace: "other" },
      spec: { user: "alice", resourceAttributes: LISTS },
    }),
  ],
  "who one is": [
    ...(["admin", "alice", "root", "nobody"] as const).map((who) =>
      create(
        `${ROOT}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
        { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
        { user: who },
      ),
    ),
    create(`${ROOT}/apis/authentication.k8s.io/v1/tokenreviews`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: { token: "alice" },
    }),
    create(`${ROOT}/apis/authentication.k8s.io/v1/tokenreviews`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: { token: "nobodys" },
    }),
    create(`${ROOT}/apis/authentication.k8s.io/v1/tokenreviews`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: {},
    }),
    create(
      `${ROOT}/apis/authentication.k8s.io/v1/tokenreviews`,
      { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: "bob" } },
      { user: "alice" },
    ),
  ],
  impersonation: [
    enters("bob"),
    ...(["root", "admin", "alice"] as const).map((who) =>
      create(
        `${WS}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
        { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
        // Repeats the request until the server knows that bob has access.
        { user: who, headers: { "impersonate-user": "bob" }, ...(who === "root" && { until: { code: 201 } }) },
      ),
    ),
    create(
      `${WS}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      { headers: { "impersonate-user": "bob", "impersonate-group": "system:authenticated" } },
    ),
    get(`${WS}${MAPS}`, { headers: { "impersonate-user": "bob", "impersonate-group": "system:authenticated" } }),
    get(`${WS}${MAPS}`, { headers: { "impersonate-user": "bob", "impersonate-group": "system:masters" } }),
    get(`${WS}${MAPS}`, { user: "bob", headers: { "impersonate-user": "alice" } }),
    get(`${WS}${MAPS}`, { user: "alice", headers: { "impersonate-group": "system:kcp:admin" } }),
  ],
});
