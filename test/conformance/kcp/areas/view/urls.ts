// Paths of the view of an export, and the objects that publish them.
import { APIS, create, get, merge, remove, WS } from "../../api.ts";
import { area, type Step, type User } from "../../step.ts";
import { BINDINGS, binds, bound, EXPORTS, exports, GROUP, identified, quiet, VIEW } from "../../view.ts";

const USERS: readonly User[] = ["root", "admin", "alice", "nobody"];
const asked = (path: string) => USERS.map((user) => get(path, { user, tell: ["kind"] }));
const SLICES = `${WS}${APIS}/apiexportendpointslices`;
const SHARDS = "/apis/topology.kcp.io/v1alpha1/partitions";
const slice = (name: string, more: object = {}, path = "$(path)") => ({
  ...{ apiVersion: "apis.kcp.io/v1alpha1", kind: "APIExportEndpointSlice", metadata: { name } },
  spec: { export: { path, name: "widgets" }, ...more },
});
const partition = (name: string, matchLabels: object) => ({
  ...{ apiVersion: "topology.kcp.io/v1alpha1", kind: "Partition", metadata: { name } },
  spec: { selector: { matchLabels } },
});
const PUBLISHED = {
  until: {
    body: {
      status: {
        endpoints: [{}],
        conditions: ["APIExportValid", "PartitionValid"].map((type) => ({ type, status: "True" })),
      },
    },
  },
  tell: ["spec", "status", "metadata.ownerReferences"],
};
const unpublished = {
  ...{ apiVersion: "apis.kcp.io/v1alpha2", kind: "APIExport", spec: {} },
  metadata: { name: "quiet", annotations: { "apiexports.apis.kcp.io/skip-endpointslice": "" } },
};
const withdrawn: readonly Step[] = [
  remove(`${BINDINGS}/widgets`, { tell: ["kind"] }),
  get(`${BINDINGS}/widgets`, { until: { code: 404 } }),
];

export const viewUrls = area("view-urls", {
  malformed: [
    ...bound(),
    ...["", "/", "/clusters", "/clusters/", "/clusters/*", "/clusters/$(ws)"].flatMap((rest) =>
      asked(`${VIEW}${rest}`),
    ),
    ...asked(`${VIEW}/clusters/$(path)${GROUP}/widgets`),
    ...asked(`${VIEW}/clusters/root:nothing${GROUP}/widgets`),
    ...[
      "/services/apiexport",
      "/services/apiexport/",
      "/services/apiexport/$(ws)",
      "/services/apiexport/$(ws)/",
    ].flatMap(asked),
    ...asked(`/services/apiexport//widgets/clusters/*${GROUP}/widgets`),
    ...asked(`/services/apiexport/$(ws)//clusters/*${GROUP}/widgets`),
    ...asked(`${VIEW}//clusters/*${GROUP}/widgets`),
    ...asked(`${VIEW}/clusters//${GROUP}/widgets`),
    ...asked(`${VIEW}/cluster/*${GROUP}/widgets`),
    ...asked(`/services/apiexport/$(path)/widgets/clusters/*${GROUP}/widgets`),
    ...asked(`/services//apiexport/$(ws)/widgets/clusters/*${GROUP}/widgets`),
    ...["%2A", "$(ws)%2F", "Root", "a_b", "-a", "..", "system:admin", "*:*"].map((name) =>
      get(`${VIEW}/clusters/${name}${GROUP}/widgets`, { tell: ["kind"] }),
    ),
    get(`${VIEW}/clusters/*/${GROUP}/widgets`, { tell: ["kind"] }),
    get(`${VIEW}/clusters/*/apis//example.dev/v1/widgets`, { tell: ["kind"] }),
    get(`${VIEW}/clusters/*${GROUP}/widgets/`, { tell: ["kind"] }),
    get(`${VIEW}/clusters/*/../*${GROUP}/widgets`, { tell: ["kind"] }),
    get(`${VIEW}/clusters/*${GROUP}/namespaces//widgets`, { tell: ["kind"] }),
    ...asked("/services"),
    ...asked("/services/"),
    ...asked("/services/nothing/at/all"),
  ],
  "published and withdrawn": [
    ...exports(),
    get(`${SLICES}/widgets`, {
      until: { body: { status: { conditions: [{ type: "APIExportValid", status: "True" }] } } },
      tell: ["spec", "status.endpoints", "metadata.name"],
    }),
    ...binds(),
    get(`${SLICES}/widgets`, PUBLISHED),
    get(`${EXPORTS}/widgets`, { tell: ["status.identityHash", "status.virtualWorkspaces"] }),
    get(`${WS}${APIS}/apiexports/widgets`, { tell: ["apiVersion", "status.virtualWorkspaces"] }),
    get(SLICES, {
      headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" },
      tell: ["columnDefinitions.name"],
    }),
    ...withdrawn,
    get(`${SLICES}/widgets`, {
      until: { body: { status: { endpoints: [] } } },
      tell: ["status.conditions.type"],
    }),
  ],
  "in slices of one's own": [
    ...bound(),
    create(SLICES, slice("own"), { until: { code: 201 }, ...quiet }),
    get(`${SLICES}/own`, PUBLISHED),
    merge(`${SLICES}/own`, { spec: { export: { name: "other" } } }),
    create(SLICES, slice("nothing", { export: { path: "$(path)", name: "nothing" } })),
    create(SLICES, slice("foreign", {}, "root:nothing")),
    create(SLICES, slice("alices"), { user: "alice" }),
  ],
  "of partitions": [
    ...bound(),
    create(`${WS}${SHARDS}`, partition("ours", { name: "root" }), quiet),
    create(`${WS}${SHARDS}`, partition("theirs", { name: "other" }), quiet),
    create(SLICES, slice("ours", { partition: "ours" }), { until: { code: 201 }, ...quiet }),
    get(`${SLICES}/ours`, PUBLISHED),
    create(SLICES, slice("theirs", { partition: "theirs" }), { until: { code: 201 }, ...quiet }),
    get(`${SLICES}/theirs`, {
      until: { body: { status: { shardSelector: "name=other" } } },
      tell: ["spec", "status.shardSelector", "status.conditions.type"],
    }),
    create(SLICES, slice("none", { partition: "nothing" }), { until: { code: 201 }, ...quiet }),
    get(`${SLICES}/none`, {
      until: { body: { status: { conditions: [{ type: "PartitionValid", status: "False" }] } } },
      tell: ["spec", "status.conditions"],
    }),
  ],
  "not wanted": [
    create(EXPORTS, unpublished, quiet),
    identified("quiet"),
    get(`${SLICES}/quiet`),
    get(`${EXPORTS}/quiet`, { tell: ["status.virtualWorkspaces"] }),
  ],
});
