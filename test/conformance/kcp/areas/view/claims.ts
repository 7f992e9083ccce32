// Permission claims: objects that workspaces grant to the provider of an export, through the export's view.
import { apiExport, configMap, create, get, MAPS, merge, remove, resourceSchema, secret, WS } from "../../api.ts";
import { type Ask, area, type Step } from "../../step.ts";
import {
  ALL,
  accepted,
  BINDINGS,
  binds,
  bound,
  claim,
  EXPORTS,
  exports,
  GROUP,
  identified,
  lets,
  MATCH_ALL,
  ONE,
  quiet,
  SCHEMAS,
  served,
} from "../../view.ts";

const HERE = `${WS}${MAPS}`;
const THERE = `${ONE}${MAPS}`;
const EVERYWHERE = `${ALL}/api/v1/configmaps`;
const LABELS = { "example.dev/is": "yes" };
const labelled = (name: string, labels: object = LABELS) => configMap(name, { metadata: { labels } });
const names = { tell: ["kind", "items.metadata.name", "items.metadata.labels"] };
const has = (name: string) => ({ until: { body: { items: [{ metadata: { name } }] } } });
const puts = (path: string, body: unknown): Ask => ({ send: `PUT ${path}`, body });
/** Creates an export with claims, and a binding with these answers to them. */
const claims = (exported: readonly object[], bindingClaims: readonly object[]): readonly Step[] => [
  ...exports({ permissionClaims: exported }),
  ...binds(bindingClaims as never),
  served(),
  lets(),
];
const maps = [claim("configmaps")];
const selected = (selector: object): readonly Step[] => claims(maps, [accepted("configmaps", { selector })]);
const gadgets = { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList" };
const gadget = (name: string) => ({ apiVersion: "example.dev/v1", kind: "Gadget", metadata: { name } });
const GADGETS = `${GROUP}/namespaces/default/gadgets`;
const others: readonly Step[] = [
  create(SCHEMAS, resourceSchema("v1.gadgets.example.dev", { names: gadgets }), quiet),
  create(
    EXPORTS,
    apiExport("gadgets", {
      resources: [{ group: "example.dev", name: "gadgets", schema: "v1.gadgets.example.dev", storage: { crd: {} } }],
    }),
    quiet,
  ),
  identified("gadgets"),
  ...binds([], "gadgets"),
];
const claimed = { group: "example.dev", identityHash: "$(gadgets.status.identityHash)" };

export const viewClaims = area("view-claims", {
  accepted: [
    create(HERE, configMap("before"), quiet),
    ...bound(maps),
    get(EVERYWHERE, { ...has("before"), ...names }),
    get(THERE, names),
    create(THERE, configMap("a")),
    get(`${THERE}/a`),
    create(HERE, configMap("b"), { tell: ["metadata.labels"] }),
    get(EVERYWHERE, { ...has("b"), ...names }),
    puts(`${THERE}/a`, configMap("a", { data: { a: "b" } })),
    merge(`${THERE}/a`, { data: { a: "c" } }, { tell: ["data", "metadata.labels"] }),
    merge(`${THERE}/a`, { metadata: { labels: { "claimed.internal.apis.kcp.io/x": "y" } } }),
    {
      send: `PATCH ${THERE}/a`,
      headers: { "content-type": "application/strategic-merge-patch+json" },
      body: { data: { b: "d" } },
      tell: ["data"],
    },
    {
      send: `PATCH ${THERE}/c?fieldManager=one`,
      headers: { "content-type": "application/apply-patch+yaml" },
      body: configMap("c", { data: { a: "b" } }),
      tell: ["data", "metadata.labels"],
    },
    get(`${ONE}/api/v1/secrets`),
    get(`${ALL}/api/v1/secrets`),
    create(`${ONE}/api/v1/namespaces/default/secrets`, secret("x")),
    remove(`${THERE}/a`, { tell: ["kind", "status"] }),
    remove(THERE, { tell: ["kind", "items.metadata.name"] }),
    get(`${HERE}/b`),
  ],
  rejected: [
    create(HERE, configMap("a"), quiet),
    ...claims(maps, [accepted("configmaps", { state: "Rejected" })]),
    get(EVERYWHERE, names),
    get(THERE),
    get(`${THERE}/a`),
    create(THERE, configMap("b")),
    merge(`${THERE}/a`, { data: { a: "b" } }),
    remove(`${THERE}/a`),
  ],
  "not answered": [
    create(HERE, configMap("a"), quiet),
    ...claims(maps, []),
    get(EVERYWHERE, names),
    get(THERE),
    create(THERE, configMap("b")),
  ],
  "of some verbs": [
    create(HERE, configMap("a"), quiet),
    ...claims(
      [claim("configmaps", { verbs: ["get", "list", "create"] })],
      [accepted("configmaps", { verbs: ["get", "list", "delete"] })],
    ),
    get(THERE, { until: { body: { items: [{ metadata: { name: "a" } }] } }, ...names }),
    get(`${THERE}/a`, quiet),
    get(`${THERE}?watch=true`),
    create(THERE, configMap("b")),
    merge(`${THERE}/a`, { data: { a: "b" } }),
    remove(`${THERE}/a`),
    remove(THERE),
    get(EVERYWHERE, names),
    get(`${ALL}/api/v1`),
  ],
  "of all verbs, where one is given": [
    create(HERE, configMap("a"), quiet),
    ...claims(maps, [accepted("configmaps", { verbs: ["get"] })]),
    get(`${THERE}/a`),
    get(THERE),
  ],
  "by labels": [
    create(HERE, configMap("a"), quiet),
    create(HERE, labelled("b"), quiet),
    ...selected({ matchLabels: LABELS }),
    get(EVERYWHERE, { ...has("b"), ...names }),
    get(THERE, names),
    get(`${THERE}/a`),
    get(`${THERE}/b`, quiet),
    create(THERE, configMap("c"), { tell: ["metadata.labels"] }),
    create(THERE, labelled("d", { "example.dev/is": "no" })),
    merge(`${THERE}/b`, { metadata: { labels: { "example.dev/is": null } } }, { tell: ["metadata.labels"] }),
    merge(`${THERE}/b`, { metadata: { labels: { "example.dev/is": "no" } } }),
    merge(`${THERE}/a`, { data: { a: "b" } }),
    remove(`${THERE}/a`),
    remove(THERE, { tell: ["kind", "items.metadata.name"] }),
    get(`${HERE}/a`, quiet),
    get(`${HERE}/b`),
  ],
  "by expressions": [
    create(HERE, labelled("b", { "example.dev/is": "one" }), quiet),
    ...selected({ matchExpressions: [{ key: "example.dev/is", operator: "In", values: ["one", "two"] }] }),
    get(EVERYWHERE, { ...has("b"), ...names }),
    create(THERE, configMap("c")),
    create(THERE, labelled("d", { "example.dev/is": "two" }), { tell: ["metadata.labels"] }),
    create(THERE, labelled("e", { "example.dev/is": "three" })),
    merge(`${THERE}/d`, { metadata: { labels: { "example.dev/is": "three" } } }),
    merge(`${THERE}/d`, { metadata: { labels: { "example.dev/is": "one" } } }, { tell: ["metadata.labels"] }),
    remove(`${THERE}/d`, { tell: ["kind", "status"] }),
  ],
  "of another export": [
    ...others,
    create(`${WS}${GADGETS}`, gadget("a"), { until: { code: 201 }, ...quiet }),
    ...bound([claim("gadgets", claimed)]),
    served(ALL, GROUP, "gadgets"),
    get(`${ALL}${GROUP}/gadgets`, { ...has("a"), tell: ["kind", "items.metadata.name"] }),
    get(`${ONE}${GADGETS}/a`, quiet),
    create(`${ONE}${GADGETS}`, gadget("b"), quiet),
    remove(`${ONE}${GADGETS}/b`, { tell: ["kind", "status"] }),
  ],
  "of another identity": [
    ...others,
    create(`${WS}${GADGETS}`, gadget("a"), { until: { code: 201 }, ...quiet }),
    ...claims(
      [claim("gadgets", { group: "example.dev", identityHash: "abc" })],
      [accepted("gadgets", { group: "example.dev", identityHash: "abc" })],
    ),
    get(`${ALL}${GROUP}`, { tell: ["resources.name"] }),
    get(`${ALL}${GROUP}/gadgets`),
    get(`${ONE}${GADGETS}/a`),
  ],
  "on bindings": [
    ...bound([claim("apibindings", { group: "apis.kcp.io" })]),
    get(`${ALL}/apis/apis.kcp.io/v1alpha2/apibindings`, { tell: ["kind", "items.metadata.name"] }),
    get(`${ONE}/apis/apis.kcp.io/v1alpha2/apibindings/widgets`, quiet),
    merge(`${ONE}/apis/apis.kcp.io/v1alpha2/apibindings/widgets`, { metadata: { labels: { a: "b" } } }, quiet),
  ],
  "on nothing, but bindings": [
    ...bound(),
    get(`${ALL}/apis/apis.kcp.io/v1alpha2/apibindings`, {
      until: { body: { items: [{ metadata: { name: "widgets" } }] } },
      tell: ["kind", "items.metadata.name", "items.metadata.labels"],
    }),
    get(`${ONE}/apis/apis.kcp.io/v1alpha1/apibindings/widgets`, { tell: ["kind", "apiVersion", "spec.reference"] }),
    get(`${ONE}/apis/apis.kcp.io/v1alpha2/apibindings/tenancy.kcp.io`),
    get(`${ONE}/apis/apis.kcp.io/v1alpha2/apibindings/widgets/status`, { tell: ["kind"] }),
    merge(`${ONE}/apis/apis.kcp.io/v1alpha2/apibindings/widgets`, { metadata: { labels: { a: "b" } } }),
    merge(
      `${ONE}/apis/apis.kcp.io/v1alpha2/apibindings/widgets`,
      { metadata: { labels: { a: "b" } } },
      { user: "root" },
    ),
    remove(`${ONE}/apis/apis.kcp.io/v1alpha2/apibindings/widgets`),
    remove(`${ONE}/apis/apis.kcp.io/v1alpha2/apibindings/widgets`, { user: "root" }),
    get(`${ONE}/apis/apis.kcp.io/v1alpha2/apiexports`),
    get(`${ALL}/apis/apis.kcp.io/v1alpha2/apiexports`),
    get(`${ALL}/apis/apis.kcp.io/v1alpha2/apibindings`, {
      headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" },
      tell: ["columnDefinitions.name"],
    }),
  ],
  "on kinds of the workspace": [
    ...bound([
      claim("logicalclusters", { group: "core.kcp.io" }),
      claim("namespaces"),
      claim("clusterroles", { group: "rbac.authorization.k8s.io" }),
    ]),
    get(`${ALL}/apis/core.kcp.io/v1alpha1/logicalclusters`, {
      until: { body: { items: [{ metadata: { name: "cluster" } }] } },
      tell: ["kind", "items.metadata.name"],
    }),
    get(`${ONE}/apis/core.kcp.io/v1alpha1/logicalclusters/cluster`, { tell: ["kind", "status.phase"] }),
    create(`${ONE}/api/v1/namespaces`, { apiVersion: "v1", kind: "Namespace", metadata: { name: "made" } }, quiet),
    get(`${ONE}/api/v1/namespaces/made/status`, { tell: ["kind", "status"] }),
    create(
      `${ONE}/apis/rbac.authorization.k8s.io/v1/clusterroles`,
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: { name: "made" },
        rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }],
      },
      { tell: ["rules"] },
    ),
  ],
  "on reviews": [
    ...bound([claim("subjectaccessreviews", { group: "authorization.k8s.io" })]),
    create(
      `${ONE}/apis/authorization.k8s.io/v1/subjectaccessreviews`,
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: { user: "alice", resourceAttributes: { verb: "get", resource: "configmaps", namespace: "default" } },
      },
      { tell: ["kind", "status.allowed"] },
    ),
    get(`${ONE}/apis/authorization.k8s.io/v1/subjectaccessreviews`),
    get(`${ALL}/apis/authorization.k8s.io/v1/subjectaccessreviews`),
  ],
  "on events": [
    ...bound([claim("events")]),
    get(`${ALL}/api/v1/events`, { tell: ["kind"] }),
    get(`${ALL}/apis/events.k8s.io/v1/events`, { tell: ["kind"] }),
    get(`${ONE}/apis/events.k8s.io/v1/events`, { tell: ["kind"] }),
    create(
      `${ONE}/api/v1/namespaces/default/events`,
      {
        ...{ apiVersion: "v1", kind: "Event", metadata: { name: "x" } },
        involvedObject: { apiVersion: "v1", kind: "Namespace", name: "default", namespace: "default" },
        ...{ reason: "Test", message: "x", type: "Normal" },
      },
      { tell: ["reason", "metadata.labels"] },
    ),
  ],
  "taken back while somebody watches": [
    create(HERE, configMap("a"), quiet),
    ...bound(maps),
    get(EVERYWHERE, { ...has("a"), tell: ["kind"] }),
    {
      watch: `${EVERYWHERE}?watch=true&fieldSelector=metadata.name=a`,
      meanwhile: merge(`${BINDINGS}/widgets`, {
        spec: { permissionClaims: [accepted("configmaps", { state: "Rejected" })] },
      }),
      until: { type: "DELETED" },
      tell: ["type", "object.metadata.name", "object.metadata.labels"],
    },
    get(THERE, { until: { code: 403 } }),
    {
      watch: `${EVERYWHERE}?watch=true&fieldSelector=metadata.name=a`,
      meanwhile: merge(`${BINDINGS}/widgets`, {
        spec: { permissionClaims: [{ ...accepted("configmaps"), selector: MATCH_ALL }] },
      }),
      until: { type: "ADDED" },
      tell: ["type", "object.metadata.name", "object.metadata.labels"],
    },
  ],
});
