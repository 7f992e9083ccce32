// Content of a waiting workspace, for the owner of its type: with the rights of its creator, or by the permissions of the
// type.
import {
  clusterRole,
  configMap,
  create,
  get,
  may,
  merge,
  namespace,
  ofType,
  RBAC,
  remove,
  secret,
  WS,
  workspaceType,
} from "../../api.ts";
import {
  allOf,
  type Cases,
  CLUSTER,
  CLUSTERS,
  KIDS,
  oneOf,
  owning,
  type Phase,
  rootOf,
  TYPES,
  typed,
  waiting,
} from "../../lifecycle.ts";
import type { Ask, Step } from "../../step.ts";
import { quiet } from "../../view.ts";

const REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const REVIEW = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
const ROLES = `${RBAC}/clusterroles`;
const RULES = [
  { apiGroups: [""], resources: ["namespaces", "configmaps"], verbs: ["get", "list", "create"] },
  { apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], resourceNames: ["one"], verbs: ["*"] },
  { apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"], verbs: ["create"] },
  { nonResourceURLs: ["/apis", "/version", "/openapi/*"], verbs: ["get"] },
];

/** Returns the identity of the client in the workspace. */
const who = (at: string, more: Partial<Ask> = {}): Ask =>
  create(`${at}${REVIEWS}`, REVIEW, {
    tell: ["status.userInfo.username", "status.userInfo.groups", "status.userInfo.extra"],
    ...more,
  });
/** Alice owns the type; Bob creates a workspace of it. */
const owned = (phase: Phase, more: object = {}): readonly Step[] => [
  ...typed(phase, "setup", { ...more }),
  ...may("alice", owning(phase)),
  ...may("bob", {
    apiGroups: ["tenancy.kcp.io"],
    resources: ["workspaces", "workspacetypes"],
    verbs: ["create", "get", "use"],
  }),
  ...waiting(phase, { user: "bob" }),
  get(`${allOf(phase)}${CLUSTERS}`, { user: "alice", until: { code: 200 }, tell: ["kind"] }),
];
const AS_ALICE = { user: "alice" } as const;

export const content = (phase: Phase): Cases => {
  const at = oneOf(phase);
  const done = merge(`${at}${CLUSTER}/status`, { status: { [phase.member]: [] } }, { ...AS_ALICE, tell: ["kind"] });
  return {
    "as who has made it": [
      ...owned(phase),
      get(`${at}/api/v1/namespaces`, { ...AS_ALICE, until: { code: 200 }, tell: ["kind"] }),
      who(at, AS_ALICE),
      who(at, { user: "root" }),
      who(at, { user: "admin" }),
      who(at, { user: "bob" }),
      who(at, { ...AS_ALICE, headers: { "impersonate-user": "kcp-admin", "impersonate-group": "system:masters" } }),
      who(at, { user: "root", headers: { "impersonate-user": "alice" } }),
      create(`${at}${ROLES}?dryRun=All`, clusterRole("one", []), { ...AS_ALICE, tell: ["kind"] }),
      create(`${at}${ROLES}?dryRun=All`, clusterRole("Bad name", []), AS_ALICE),
      create(`${at}${ROLES}?dryRun=All`, { ...clusterRole("one", []), apiVersion: "v1" }, AS_ALICE),
      get(`${at}${ROLES}/nothing`, AS_ALICE),
      get(`${at}${ROLES}?limit=1`, { ...AS_ALICE, tell: ["kind"] }),
      get(`${at}/api/v1/configmaps?watch=true&timeoutSeconds=1&resourceVersion=x`, AS_ALICE),
      get(`${at}/api/v1/configmaps?labelSelector=%3D%3D`, AS_ALICE),
      get(`${at}/apis/nothing.dev/v1/things`, AS_ALICE),
      get(`${at}/apis/core.kcp.io/v1alpha1/shards`, { ...AS_ALICE, tell: ["kind"] }),
      get(`${at}/version`, { ...AS_ALICE, tell: ["kind"] }),
      get(`${at}/clusters/root/api/v1/namespaces`, { ...AS_ALICE, tell: ["kind"] }),
      get(`${at}/services/apiexport`, { ...AS_ALICE, tell: ["kind"] }),
      ...(phase.is === "initializing" ? written(at) : []),
      { send: `OPTIONS ${at}/api/v1/namespaces`, ...AS_ALICE },
      { send: `HEAD ${at}/version`, ...AS_ALICE },
      done,
      ...(phase.is === "initializing" ? [get(`${at}/api/v1/namespaces`, { ...AS_ALICE, until: { code: 403 } })] : []),
    ],
    "of what masters have made": [
      ...typed(phase),
      ...waiting(phase, { user: "root" }),
      get(`${at}/api/v1/namespaces`, { until: { code: 500 } }),
      get(`${at}/api/v1/namespaces`, { user: "root" }),
      get(`${at}/apis`, { tell: ["kind"] }),
      get(`${at}${CLUSTER}`, { tell: ["spec"] }),
    ],
    "by permissions": [
      ...owned(phase, { [phase.permissions]: RULES }),
      get(`${at}/api/v1/namespaces`, { ...AS_ALICE, until: { code: 200 }, tell: ["kind"] }),
      who(at, AS_ALICE),
      who(at, { user: "root" }),
      who(at, { user: "admin" }),
      who(at, { user: "root", headers: { "impersonate-user": "alice", "impersonate-extra-a": "b" } }),
      who(at, { ...AS_ALICE, headers: { "impersonate-user": "kcp-admin", "impersonate-group": "system:masters" } }),
      get(`${at}/api/v1/configmaps`, { ...AS_ALICE, tell: ["kind"] }),
      get(`${at}/api/v1/configmaps?watch=true`, AS_ALICE),
      get(`${at}/api/v1/watch/configmaps`, AS_ALICE),
      get(`${at}/api/v1/namespaces/nothing`, AS_ALICE),
      get(`${at}/api/v1/namespaces/nothing/configmaps/a`, AS_ALICE),
      get(`${at}/api/v1/namespaces/nothing/status`, AS_ALICE),
      create(`${at}/api/v1/namespaces?dryRun=All`, namespace("space"), { ...AS_ALICE, tell: ["kind"] }),
      remove(`${at}/api/v1/namespaces/nothing`, AS_ALICE),
      remove(`${at}/api/v1/namespaces/nothing/configmaps`, AS_ALICE),
      merge(`${at}/api/v1/namespaces/nothing`, {}, AS_ALICE),
      { send: `PUT ${at}/api/v1/namespaces/nothing`, body: namespace("nothing"), ...AS_ALICE },
      get(`${at}/api/v1/secrets`, AS_ALICE),
      get(`${at}/api/v1/namespaces/nothing/secrets/a`, AS_ALICE),
      create(`${at}/api/v1/namespaces/nothing/secrets`, secret("a"), AS_ALICE),
      get(`${at}/api/v1/secrets`, { user: "root" }),
      get(`${at}/api/v1/secrets`, { user: "admin" }),
      create(`${at}${ROLES}?dryRun=All`, clusterRole("one", []), AS_ALICE),
      get(`${at}${ROLES}/one`, AS_ALICE),
      get(`${at}${ROLES}/two`, AS_ALICE),
      get(`${at}${ROLES}?fieldSelector=metadata.name=one`, { ...AS_ALICE, tell: ["kind"] }),
      get(`${at}/apis`, { ...AS_ALICE, tell: ["kind"] }),
      get(`${at}/api`, { ...AS_ALICE, tell: ["kind"] }),
      get(`${at}/apis/rbac.authorization.k8s.io/v1`, { ...AS_ALICE, tell: ["kind"] }),
      get(`${at}/openapi/v3`, { ...AS_ALICE, tell: ["openapi"] }),
      get(`${at}/version`, { ...AS_ALICE, tell: ["kind"] }),
      get(`${at}/`, { ...AS_ALICE, tell: ["kind"] }),
      { send: `POST ${at}/version`, ...AS_ALICE },
      get(`${at}/apis/nothing.dev/v1/things`, AS_ALICE),
      get(`${at}/clusters/root/api/v1/secrets`, AS_ALICE),
      get(`${at}/api/v1/namespaces/a%2Fb`, AS_ALICE),
      get(`${at}/api/v1/namespaces/../secrets`, AS_ALICE),
      get(`${at}${CLUSTER}`, { ...AS_ALICE, tell: ["kind"] }),
    ],
    "by permissions that change": [
      ...owned(phase, { [phase.permissions]: RULES }),
      get(`${at}/api/v1/namespaces`, { ...AS_ALICE, until: { code: 200 }, tell: ["kind"] }),
      merge(
        `${TYPES}/setup`,
        { spec: { [phase.permissions]: RULES.slice(1) } },
        { tell: [`spec.${phase.permissions}`] },
      ),
      get(`${at}/api/v1/namespaces`, { ...AS_ALICE, until: { code: 403 } }),
      merge(`${TYPES}/setup`, { spec: { [phase.permissions]: [] } }, { tell: [`spec.${phase.permissions}`] }),
      get(`${at}/api/v1/namespaces`, { ...AS_ALICE, until: { code: 200 }, tell: ["kind"] }),
      merge(
        `${TYPES}/setup`,
        { spec: { [phase.permissions]: [{ apiGroups: [""], resources: ["*"] }] } },
        { tell: [`spec.${phase.permissions}`] },
      ),
    ],
    "permissions that are none": [
      create(TYPES, workspaceType("one", { [phase.permissions]: "x" })),
      create(TYPES, workspaceType("two", { [phase.permissions]: [{}] })),
      create(TYPES, workspaceType("three", { [phase.permissions]: [{ verbs: [] }] }), { tell: ["kind"] }),
      create(TYPES, workspaceType("four", { [phase.permissions]: [{ verbs: ["get"] }] }), { tell: ["kind"] }),
    ],
    "out of the phase": [
      ...typed(phase),
      ...typed(phase, "other"),
      ...waiting(phase),
      get(`${rootOf(phase)}/$(ws)/api/v1/namespaces`),
      get(`${rootOf(phase)}/$(ws)/api/v1/namespaces`, { user: "root" }),
      get(`${rootOf(phase)}/$(ws)/apis`, { tell: ["kind"] }),
      get(`${rootOf(phase)}/root/api/v1/namespaces`),
      get(`${rootOf(phase)}/nothing/api/v1/namespaces`),
      get(`${rootOf(phase)}/nothing/api/v1/namespaces`, { user: "root" }),
      get(`${rootOf(phase)}/system:admin/api/v1/namespaces`, { user: "root" }),
      get(`${oneOf(phase, "other")}/api/v1/namespaces`),
      create(KIDS, ofType("plain", "universal", "root"), quiet),
      get(`${KIDS}/plain`, { until: { body: { status: { phase: "Ready" } } }, tell: ["kind"], as: "plain" }),
      get(`${oneOf(phase, "setup", "plain")}/api/v1/namespaces`),
      create(`${oneOf(phase, "setup", "plain")}/api/v1/namespaces/default/configmaps`, configMap("a")),
    ],
    "with the groups of the view": [
      ...typed(phase, "setup", { [phase.permissions]: RULES }),
      ...waiting(phase),
      { ...as("$(kid.spec.cluster)", "alice", `system:kcp:${phase.flag}:x`), until: { code: 200 } },
      ...["alice", "system:anonymous"].flatMap((user) => [
        as("$(kid.spec.cluster)", user, `system:kcp:${phase.flag}:$(ws):setup`),
        as("$(kid.spec.cluster)", user, `system:kcp:${phase.flag}:x`),
        as("$(ws)", user, `system:kcp:${phase.flag}:$(ws):setup`),
      ]),
      { ...as("$(kid.spec.cluster)", "alice", `system:kcp:${phase.flag}:x`), user: "admin" },
      get(`${WS.replace("ws", "kid.spec.cluster")}/api/v1/secrets`, AS_ALICE),
    ],
  };
};

/** Content that stays. A workspace in deletion may lose its content at any time. */
function written(at: string): readonly Step[] {
  const maps = `${at}/api/v1/namespaces/space/configmaps`;
  return [
    create(`${at}/api/v1/namespaces`, namespace("space"), { ...AS_ALICE, tell: ["kind"] }),
    create(maps, configMap("a"), { ...AS_ALICE, tell: ["kind"] }),
    create(maps, configMap("a"), AS_ALICE),
    {
      ...{
        watch: `${maps}?watch=true&fieldSelector=metadata.name=a`,
        ...AS_ALICE,
        meanwhile: remove(`${maps}/a`, AS_ALICE),
      },
      until: { type: "DELETED", object: { metadata: { name: "a" } } },
      tell: ["type", "object.metadata.name"],
    },
    get(`${maps}/a`, AS_ALICE),
    get(`/clusters/$(kid.spec.cluster)/api/v1/namespaces/space`, { ...AS_ALICE, tell: ["kind"] }),
    get(`/clusters/$(kid.spec.cluster)/api/v1/namespaces/space`, { user: "bob", tell: ["kind"] }),
  ];
}

/** Sends the header that marks a request as checked by the view. Only users who may impersonate everyone can set it. */
function as(cluster: string, name: string, group: string): Ask {
  return get(`/clusters/${cluster}/api/v1/secrets`, {
    user: "root",
    headers: { "impersonate-user": name, "impersonate-group": group },
    tell: ["kind"],
  });
}
