// Access to workspaces that wait for the owner of a type, and the paths at which they are served.
import { clusterRole, clusterRoleBinding, create, get, may, merge, ofType, RBAC, remove, user, WS } from "../../api.ts";
import {
  allOf,
  type Cases,
  CLUSTER,
  CLUSTERS,
  oneOf,
  owning,
  type Phase,
  rootOf,
  TYPES,
  typed,
  waiting,
} from "../../lifecycle.ts";
import type { Ask, Step, User } from "../../step.ts";
import { quiet } from "../../view.ts";

const USERS: readonly User[] = ["root", "admin", "alice", "bob", "nobody", "stranger"];
const SOME: readonly User[] = ["root", "admin", "alice"];
const asked = (path: string, users = USERS, more: Partial<Ask> = {}): readonly Ask[] =>
  users.map((one) => get(path, { user: one, tell: ["kind"], ...more }));
/** Invalid values in the place of an initializer or terminator. */
const MALFORMED = [
  "setup",
  "$(ws):",
  ":setup",
  "$(ws):nothing",
  "nothing:setup",
  "$(path):setup",
  "system:apibindings",
];
const STRANGE = ["system:nothing", "root:universal", "$(ws):Setup", "$(ws):setup:x", "a%20b:setup", "$(ws)%3Asetup"];

/** Alice has the verb on the type. */
const owned = (phase: Phase): readonly Step[] => [
  ...may("alice", owning(phase)),
  get(`${allOf(phase)}${CLUSTERS}`, { user: "alice", until: { code: 200 }, tell: ["kind"] }),
];
const binds = (name: User, verb: string): readonly Ask[] => [
  create(
    `${WS}${RBAC}/clusterroles`,
    clusterRole(`${name}-may`, [
      { apiGroups: ["tenancy.kcp.io"], resources: ["workspacetypes"], verbs: [verb], resourceNames: ["setup"] },
    ]),
    { user: "root", ...quiet },
  ),
  create(`${WS}${RBAC}/clusterrolebindings`, clusterRoleBinding(`${name}-may`, `${name}-may`, [user(name)]), {
    user: "root",
    ...quiet,
  }),
];

export const access = (phase: Phase): Cases => ({
  "who may": [
    ...typed(phase),
    ...waiting(phase),
    ...owned(phase),
    ...asked(`${allOf(phase)}${CLUSTERS}`),
    ...asked(`${allOf(phase)}/apis`),
    ...asked(`${allOf(phase)}/nothing`),
    ...asked(`${oneOf(phase)}${CLUSTER}`),
    ...asked(`${oneOf(phase)}${CLUSTERS}`),
    ...asked(`${oneOf(phase)}/apis`),
    ...asked(`${oneOf(phase)}/api/v1/namespaces`),
    merge(`${oneOf(phase)}${CLUSTER}/status`, { status: { conditions: [] } }, { user: "bob" }),
    merge(`${oneOf(phase)}${CLUSTER}/status`, { status: { [phase.member]: [] } }, { user: "alice", tell: ["kind"] }),
  ],
  "by other verbs": [
    ...typed(phase),
    ...may("alice", owning(phase, { verbs: ["use", "get", phase.verb === "initialize" ? "terminate" : "initialize"] })),
    get(`${TYPES}/setup`, { user: "alice", until: { code: 200 }, ...quiet }),
    get(`${allOf(phase)}${CLUSTERS}`, { user: "alice" }),
    ...may("bob", owning(phase, { verbs: ["*"], resourceNames: [] })),
    get(`${allOf(phase)}${CLUSTERS}`, { user: "bob", until: { code: 200 }, tell: ["kind"] }),
  ],
  "without access to the type's workspace": [
    ...typed(phase),
    ...binds("alice", phase.verb),
    get(`${allOf(phase)}${CLUSTERS}`, { user: "alice" }),
  ],
  "as nobody's": [
    ...typed(phase),
    ...waiting(phase),
    ...[...MALFORMED, ...STRANGE].flatMap((of) => [
      ...asked(`${rootOf(phase, of)}/*${CLUSTERS}`, SOME),
      get(`${rootOf(phase, of)}/*/apis`, { user: "root", tell: ["kind"] }),
      get(`${rootOf(phase, of)}/$(kid.spec.cluster)${CLUSTER}`, { user: "root", tell: ["kind"] }),
      get(`${rootOf(phase, of)}/$(kid.spec.cluster)/api/v1/namespaces`, { user: "root", tell: ["kind"] }),
    ]),
  ],
  "at strange paths": [
    ...typed(phase),
    ...["", "/", "/$(ws):setup", "/$(ws):setup/", "/$(ws):setup/clusters", "/$(ws):setup/clusters/"].flatMap((path) =>
      asked(`/services/${phase.is}workspaces${path}`, SOME),
    ),
    ...asked(`/services/${phase.is}workspaces//clusters/*${CLUSTERS}`, SOME),
    ...asked(`/services/${phase.is}workspaces/$(ws)/setup/clusters/*${CLUSTERS}`, SOME),
    ...["$(path)", "Root", "a_b", "root:nothing", "*:x", "**", "", "$(ws)%2F"].flatMap((cluster) => [
      ...asked(`${rootOf(phase)}/${cluster}${CLUSTER}`, SOME),
      get(`${rootOf(phase)}/${cluster}/apis`, { user: "root", tell: ["kind"] }),
    ]),
    get(`${allOf(phase)}/apis/core.kcp.io/v1alpha1//logicalclusters`, { tell: ["kind"] }),
    get(`${allOf(phase)}/apis/core.kcp.io/v1alpha1/logicalclusters/`, { tell: ["kind"] }),
    get(`${allOf(phase)}/clusters/root${CLUSTERS}`, { tell: ["kind"] }),
  ],
  "as somebody else": [
    ...typed(phase),
    ...waiting(phase),
    ...owned(phase),
    ...impersonated(phase, "root", { "impersonate-user": "bob" }),
    ...impersonated(phase, "root", { "impersonate-user": "alice" }),
    ...impersonated(phase, "admin", { "impersonate-user": "alice" }),
    ...impersonated(phase, "alice", { "impersonate-user": "bob" }),
    ...impersonated(phase, "alice", { "impersonate-user": "kcp-admin", "impersonate-group": "system:kcp:admin" }),
    ...impersonated(phase, "bob", { "impersonate-user": "alice" }),
    ...impersonated(phase, "alice", { "x-remote-user": "kcp-admin", "x-remote-group": "system:masters" }),
    ...impersonated(phase, "bob", { "x-remote-user": "kcp-admin", "x-remote-group": "system:masters" }),
  ],
  "once the type is gone": [
    ...typed(phase),
    ...waiting(phase),
    ...owned(phase),
    remove(`${TYPES}/setup`, { tell: ["kind"] }),
    get(`${allOf(phase)}${CLUSTERS}`, { user: "alice", tell: ["kind", "items.kind"] }),
    get(`${oneOf(phase)}${CLUSTER}`, { user: "alice", tell: ["kind"] }),
    get(`${oneOf(phase)}/api/v1/namespaces`, { user: "alice", until: { code: 503 } }),
    get(`${oneOf(phase)}/api/v1/namespaces`, { user: "root" }),
    merge(`${oneOf(phase)}${CLUSTER}/status`, { status: { [phase.member]: [] } }, { user: "alice", tell: ["kind"] }),
    create(`${WS}/apis/tenancy.kcp.io/v1alpha1/workspaces`, ofType("other", "setup", "$(path)")),
  ],
});

function impersonated(phase: Phase, by: User, headers: Readonly<Record<string, string>>): readonly Ask[] {
  const paths = [`${allOf(phase)}${CLUSTERS}`, `${oneOf(phase)}${CLUSTER}`, `${oneOf(phase)}/api/v1/namespaces`];
  return paths.map((path) => get(path, { user: by, headers, tell: ["kind"] }));
}
