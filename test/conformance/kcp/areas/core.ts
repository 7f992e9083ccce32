// Kubernetes' own kinds in a workspace.
import {
  configMap,
  create,
  get,
  MAPS,
  merge,
  NAMESPACES,
  namespace,
  remove,
  secret,
  serviceAccount,
  TABLE,
  WS,
} from "../api.ts";
import { area } from "../step.ts";

const IN = `${WS}${NAMESPACES}/default`;
const ACTIVE = { body: { metadata: { name: "default" } } };
const UPDATED = { body: { status: { phase: "Terminating" } } };

export const core = area("core", {
  namespaces: [
    get(`${WS}${NAMESPACES}`),
    create(`${WS}${NAMESPACES}`, namespace("a")),
    create(`${WS}${NAMESPACES}`, namespace("a")),
    create(`${WS}${NAMESPACES}`, namespace("A")),
    get(`${WS}${NAMESPACES}/a/serviceaccounts/default`, { until: ACTIVE }),
    get(`${WS}${NAMESPACES}/a/configmaps/kube-root-ca.crt`, {
      until: { body: { kind: "ConfigMap" } },
      tell: ["metadata.annotations"],
    }),
    get(`${WS}${NAMESPACES}`, { headers: TABLE, tell: ["columnDefinitions", "rows.cells"] }),
    remove(`${WS}${NAMESPACES}`),
    remove(`${WS}${NAMESPACES}/default`),
    remove(`${WS}${NAMESPACES}/a`, { tell: ["kind", "status.phase", "spec"] }),
    get(`${WS}${NAMESPACES}/a`, { until: { code: 404 } }),
    create(`${WS}${NAMESPACES}/nowhere/configmaps`, configMap("a")),
    get(`${WS}${NAMESPACES}/nowhere/configmaps`),
  ],
  "a namespace whose content stays": [
    create(`${WS}${NAMESPACES}`, namespace("a"), { tell: ["metadata.name"] }),
    create(`${WS}${NAMESPACES}/a/configmaps`, configMap("x", { metadata: { finalizers: ["example.dev/wait"] } }), {
      tell: ["metadata.finalizers"],
    }),
    remove(`${WS}${NAMESPACES}/a`, { tell: ["kind"] }),
    get(`${WS}${NAMESPACES}/a`, {
      until: { body: { status: { conditions: [{ type: "NamespaceFinalizersRemaining", status: "True" }] } } },
      tell: ["spec", "status"],
    }),
    create(`${WS}${NAMESPACES}/a/configmaps`, configMap("y")),
    get(`${WS}${NAMESPACES}/a`, { until: UPDATED, tell: ["status.phase"] }),
    merge(`${WS}${NAMESPACES}/a/configmaps/x`, { metadata: { finalizers: null } }, { tell: ["kind"] }),
    get(`${WS}${NAMESPACES}/a`, { until: { code: 404 } }),
  ],
  "config maps": [
    create(`${WS}${MAPS}`, configMap("a", { data: { x: "y" } })),
    get(`${WS}${MAPS}/a`),
    get(`${WS}${MAPS}?fieldSelector=metadata.name=a`, { headers: TABLE, tell: ["columnDefinitions", "rows.cells"] }),
    create(`${WS}${MAPS}`, configMap("b", { data: { "x y": "z" } })),
    create(`${WS}${MAPS}`, configMap("b", { data: { x: 1 } })),
    create(`${WS}${MAPS}`, configMap("b", { data: { x: "1" }, binaryData: { x: "MQ==" } })),
    create(`${WS}${MAPS}`, configMap("b", { immutable: true, data: { x: "1" } }), { tell: ["immutable", "data"] }),
    merge(`${WS}${MAPS}/b`, { data: { x: "2" } }),
    merge(`${WS}${MAPS}/b`, { immutable: false }),
    get(`${WS}${MAPS}/c`),
    get(`${WS}${MAPS}?fieldSelector=data=1`),
    get(`${WS}${MAPS}?labelSelector=a b`),
    get(`${WS}${MAPS}?limit=x`),
    merge(
      `${WS}${MAPS}/a`,
      { metadata: { annotations: { "kcp.io/cluster": "root" } } },
      {
        tell: ["metadata.annotations"],
      },
    ),
    create(`${WS}${MAPS}`, configMap("d", { metadata: { namespace: "other" } })),
    create(`${WS}${MAPS}`, configMap("e", { metadata: { labels: { "a b": "c" } } })),
    remove(`${WS}${MAPS}/a`),
    remove(`${WS}${MAPS}?labelSelector=nothing=here`, { tell: ["kind", "items"] }),
  ],
  secrets: [
    create(`${IN}/secrets`, secret("a", { stringData: { x: "y" } })),
    get(`${IN}/secrets/a`, { headers: TABLE, tell: ["columnDefinitions", "rows.cells"] }),
    create(`${IN}/secrets`, secret("b", { data: { x: "not base64" } })),
    create(`${IN}/secrets`, secret("c", { type: "kubernetes.io/tls", data: {} })),
    create(`${IN}/secrets`, secret("d", { type: "kubernetes.io/basic-auth", data: {} })),
    create(`${IN}/secrets`, secret("e", { type: "kubernetes.io/dockerconfigjson", data: {} })),
    create(`${IN}/secrets`, secret("f", { type: "kubernetes.io/service-account-token" })),
    create(`${IN}/secrets`, secret("g", { type: "kubernetes.io/ssh-auth", data: {} })),
    merge(`${IN}/secrets/a`, { type: "other" }),
  ],
  "service accounts and their tokens": [
    create(`${IN}/serviceaccounts`, serviceAccount("robot")),
    get(`${IN}/serviceaccounts/robot`, { headers: TABLE, tell: ["columnDefinitions", "rows.cells"] }),
    create(
      `${IN}/secrets`,
      secret("robot", {
        type: "kubernetes.io/service-account-token",
        metadata: { annotations: { "kubernetes.io/service-account.name": "robot" } },
      }),
      { tell: ["type", "metadata.annotations"] },
    ),
    get(`${IN}/secrets/robot`, {
      until: { body: { data: { namespace: "ZGVmYXVsdA==" } } },
      tell: ["data", "metadata.annotations", "metadata.labels"],
    }),
    create(
      `${IN}/serviceaccounts/robot/token`,
      { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } },
      { as: "token", tell: ["kind", "metadata.name", "metadata.annotations", "spec"] },
    ),
    create(`${IN}/serviceaccounts/robot/token`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: 1 },
    }),
    create(`${IN}/serviceaccounts/nobody/token`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {},
    }),
    get(`${IN}/configmaps`, { user: "nobody", headers: { authorization: "Bearer $(token.status.token)" } }),
    get(`${WS}/api`, {
      user: "nobody",
      headers: { authorization: "Bearer $(token.status.token)" },
      tell: ["versions"],
    }),
    get("/clusters/root/api/v1/namespaces", {
      user: "nobody",
      headers: { authorization: "Bearer $(token.status.token)" },
    }),
    get("/clusters/root/api", { user: "nobody", headers: { authorization: "Bearer $(token.status.token)" } }),
    get("/api/v1/namespaces/default/configmaps", {
      user: "nobody",
      headers: { authorization: "Bearer $(token.status.token)" },
    }),
    create(
      `${WS}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      { user: "nobody", headers: { authorization: "Bearer $(token.status.token)" } },
    ),
    create(`${WS}/apis/authentication.k8s.io/v1/tokenreviews`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: { token: "$(token.status.token)" },
    }),
    remove(`${IN}/serviceaccounts/robot`, { tell: ["kind", "metadata.name"] }),
    get(`${IN}/configmaps`, {
      user: "nobody",
      headers: { authorization: "Bearer $(token.status.token)" },
      until: { code: 401 },
    }),
  ],
  "events and leases": [
    create(`${IN}/events`, {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "a" },
      involvedObject: { kind: "ConfigMap", namespace: "default", name: "a" },
      reason: "Tried",
      message: "it was tried",
      type: "Normal",
    }),
    get(`${IN}/events`, { headers: TABLE, tell: ["columnDefinitions", "rows.cells"] }),
    get(`${WS}/apis/events.k8s.io/v1/namespaces/default/events/a`),
    create(`${IN}/events`, {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "b" },
      involvedObject: { kind: "ConfigMap", namespace: "other", name: "a" },
    }),
    create(`${WS}/apis/coordination.k8s.io/v1/namespaces/default/leases`, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "a" },
      spec: { holderIdentity: "me", leaseDurationSeconds: 15 },
    }),
    create(`${WS}/apis/coordination.k8s.io/v1/namespaces/default/leases`, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "b" },
      spec: { leaseDurationSeconds: 0 },
    }),
    get(`${WS}/apis/coordination.k8s.io/v1/namespaces/default/leases`, {
      headers: TABLE,
      tell: ["columnDefinitions", "rows.cells"],
    }),
  ],
  "owners and what they own": [
    create(`${WS}${MAPS}`, configMap("owner"), { as: "owner", tell: ["metadata.name"] }),
    create(
      `${WS}${MAPS}`,
      configMap("owned", {
        metadata: {
          ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "$(owner.metadata.uid)" }],
        },
      }),
      { tell: ["metadata.ownerReferences"] },
    ),
    remove(`${WS}${MAPS}/owner`),
    get(`${WS}${MAPS}/owned`, { until: { code: 404 } }),
  ],
});
