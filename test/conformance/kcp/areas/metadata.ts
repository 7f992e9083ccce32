// Metadata of all logical clusters at once. Cases run concurrently, so each uses a group and labels of its own.
import { APIS, APIS2, CRDS, configMap, create, get, MAPS, merge, remove, resourceSchema, TENANCY, WS } from "../api.ts";
import { type Ask, area, type Step } from "../step.ts";

const GROUP = "$(name).example.dev";
const CHILD = "/clusters/$(child.spec.cluster)";
const FORM = "g=meta.k8s.io;v=v1";
const METADATA = { accept: `application/json;as=PartialObjectMetadataList;${FORM}` };
const EVENTS = { accept: `application/json;as=PartialObjectMetadata;${FORM}` };
const ALL = `/clusters/*/apis/${GROUP}`;
const CORE_CLUSTER = "/apis/core.kcp.io/v1alpha1/logicalclusters/cluster";
const quiet = { tell: ["metadata.name"] };
const TOLD = [
  "kind",
  "apiVersion",
  "items.kind",
  "items.apiVersion",
  "items.metadata.name",
  "items.metadata.annotations",
];
const masters = { user: "root", headers: METADATA } as const;
const NAMES = { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" };

const definition = (version: string): object => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Cluster",
    names: NAMES,
    versions: [
      { name: version, served: true, storage: true, schema: { openAPIV3Schema: { type: "object", ...OPEN } } },
    ],
  },
});
const OPEN = { "x-kubernetes-preserve-unknown-fields": true };
const schema = resourceSchema(`v3.widgets.${GROUP}`, {
  group: GROUP,
  scope: "Cluster",
  names: NAMES,
  versions: [{ name: "v3", served: true, storage: true, schema: { type: "object", ...OPEN } }],
});
const exported = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIExport",
  metadata: { name: "widgets" },
  spec: { resources: [{ group: GROUP, name: "widgets", schema: `v3.widgets.${GROUP}`, storage: { crd: {} } }] },
};
const binding = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIBinding",
  metadata: { name: "widgets" },
  spec: { reference: { export: { path: "$(path)", name: "widgets" } } },
};
const makes = (place: string, version: string, name: string): Ask =>
  create(
    `${place}/apis/${GROUP}/${version}/widgets`,
    { apiVersion: `${GROUP}/${version}`, kind: "Widget", metadata: { name, labels: { is: name } }, spec: { a: 1 } },
    { until: { code: 201 }, tell: ["metadata.name", "metadata.annotations"] },
  );
const defines = (version: string): Ask => create(`${WS}${CRDS}`, definition(version), quiet);
const hasChild: readonly Step[] = [
  create(
    `${WS}${TENANCY}/workspaces`,
    {
      apiVersion: "tenancy.kcp.io/v1alpha1",
      kind: "Workspace",
      metadata: { name: "child" },
      spec: { type: { name: "universal", path: "root" } },
    },
    quiet,
  ),
  get(`${WS}${TENANCY}/workspaces/child`, {
    until: { body: { status: { phase: "Ready" } } },
    tell: ["metadata.name"],
    as: "child",
  }),
];
const bindsIt: readonly Step[] = [
  create(`${WS}${APIS}/apiresourceschemas`, schema, quiet),
  create(`${WS}${APIS2}/apiexports`, exported, quiet),
  get(`${WS}${APIS2}/apiexports/widgets`, {
    until: { body: { status: { conditions: [{ type: "IdentityValid", status: "True" }] } } },
    tell: ["metadata.name"],
    as: "export",
  }),
  create(`${CHILD}${APIS2}/apibindings`, binding, { until: { code: 201 }, ...quiet }),
  get(`${CHILD}${APIS2}/apibindings/widgets`, { until: { body: { status: { phase: "Bound" } } }, ...quiet }),
];
const lists = (path: string, more: Partial<Ask> = {}): Ask => get(path, { ...masters, tell: TOLD, ...more });
const one = (name: string): Partial<Ask> => ({ until: { body: { items: [{ metadata: { name } }] } } });

export const metadata = area("metadata", {
  "of all kinds of one name": [
    ...hasChild,
    defines("v1"),
    makes(WS, "v1", "own"),
    ...bindsIt,
    makes(CHILD, "v3", "bound"),
    lists(`${ALL}/v1/widgets?labelSelector=is=own`, one("own")),
    ...["v1", "v3", "v9"].map((version) => lists(`${ALL}/${version}/widgets?labelSelector=is=bound`, one("bound"))),
    lists(`${ALL}/v1/widgets`, { tell: ["kind", "items.kind"] }),
    lists(`${ALL}/v1/widgets?limit=1`, { tell: ["kind", "items.kind", "metadata.remainingItemCount"] }),
    lists(`${ALL}/v1/widgets?fieldSelector=spec.a=1`),
    lists(`${ALL}/v1/namespaces/default/widgets`),
    lists(`${ALL}/v3/widgets:abc`),
    lists(`${WS}/apis/${GROUP}/v1/widgets`),
    lists(`${CHILD}/apis/${GROUP}/v3/widgets`),
    ...(["admin", "alice", "nobody"] as const).map((user) => get(`${ALL}/v1/widgets`, { user, headers: METADATA })),
    remove(`${WS}${CRDS}/widgets.${GROUP}`, { tell: ["status"] }),
    get(`${WS}${CRDS}/widgets.${GROUP}`, { until: { code: 404 } }),
    lists(`${ALL}/v1/widgets`, { tell: ["kind", "items.metadata.name"] }),
  ],
  "and nothing else": [
    lists(`${ALL}/v1/widgets`),
    defines("v1"),
    lists(`${ALL}/v1/widgets`, { until: { code: 200 }, tell: ["kind", "apiVersion"] }),
    get(`${ALL}/v1/widgets`, { user: "root" }),
    get(`${ALL}/v1/widgets`, { user: "root", headers: { accept: `application/json;as=Table;${FORM}` } }),
    get(`${ALL}/v1/widgets`, { user: "root", headers: { accept: "application/json;as=PartialObjectMetadataList" } }),
    get(`${ALL}/v1/widgets`, { user: "root", headers: EVENTS }),
    get(`${ALL}/v1/widgets?watch=true`, { user: "root" }),
    get(`${ALL}/v1/widgets/x`, masters),
    get(`${ALL}/v1/nothing/x`, masters),
    get(`${ALL}/v1/nothing`, masters),
    get(`${ALL}/v1/widgets/x/status`, masters),
    create(`${ALL}/v1/widgets`, {}, masters),
    remove(`${ALL}/v1/widgets`, masters),
    get(`${ALL}/v1`, { user: "root" }),
  ],
  "of whole objects, where those come first": [
    defines("v1"),
    makes(WS, "v1", "own"),
    lists(`${ALL}/v1/widgets`, one("own")),
    lists(`${ALL}/v1/widgets`, {
      headers: { accept: `application/json, ${METADATA.accept}` },
      tell: ["kind", "apiVersion"],
    }),
  ],
  "of one name, by a field": [
    defines("v1"),
    makes(WS, "v1", "own"),
    lists(`${ALL}/v1/widgets`, one("own")),
    lists(`${ALL}/v1/widgets?fieldSelector=metadata.name=own`),
  ],
  "of an identity": [
    ...hasChild,
    defines("v1"),
    makes(WS, "v1", "own"),
    ...bindsIt,
    makes(CHILD, "v3", "bound"),
    lists(`${ALL}/v3/widgets:$(export.status.identityHash)?labelSelector=is=bound`, one("bound")),
    lists(`${ALL}/v3/widgets:$(export.status.identityHash)?labelSelector=is=own`),
  ],
  "as it changes": [
    ...hasChild,
    defines("v1"),
    makes(WS, "v1", "own"),
    lists(`${ALL}/v1/widgets`, { ...one("own"), as: "list", tell: ["kind"] }),
    ...bindsIt,
    makes(CHILD, "v3", "bound"),
    merge(`${CHILD}/apis/${GROUP}/v3/widgets/bound`, { metadata: { labels: { is: "changed" } } }, quiet),
    remove(`${WS}/apis/${GROUP}/v1/widgets/own`, { tell: ["status"] }),
    {
      watch: `${ALL}/v2/widgets?watch=true&resourceVersion=$(list.metadata.resourceVersion)`,
      user: "root",
      headers: EVENTS,
      until: { type: "DELETED" },
      tell: ["type", "object.kind", "object.apiVersion", "object.metadata.name", "object.metadata.annotations"],
    },
  ],
  "of kcp's own kinds": [
    ...hasChild,
    create(`${WS}${MAPS}`, configMap("map", { metadata: { labels: { of: "$(name)" } } }), {
      until: { code: 201 },
      ...quiet,
    }),
    lists("/clusters/*/api/v1/configmaps?labelSelector=of=$(name)", one("map")),
    lists("/clusters/*/api/v7/configmaps"),
    merge(`${WS}${TENANCY}/workspaces/child`, { metadata: { labels: { of: "$(name)" } } }, quiet),
    lists(`/clusters/*${TENANCY}/workspaces?labelSelector=of=$(name)`, {
      ...one("child"),
      tell: ["kind", "items.metadata.name"],
    }),
    lists("/clusters/*/apis/tenancy.kcp.io/v9/workspaces?labelSelector=of=$(name)", {
      ...one("child"),
      tell: ["kind", "items.metadata.name"],
    }),
    merge(`${WS}${CORE_CLUSTER}`, { metadata: { labels: { of: "$(name)" } } }, quiet),
    lists(`/clusters/*/apis/core.kcp.io/v9/logicalclusters?labelSelector=of=$(name)`, {
      ...one("cluster"),
      tell: ["kind", "items.metadata.name"],
    }),
  ],
});
