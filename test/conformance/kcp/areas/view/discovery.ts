// Discovery in the view of an export.
import { get, resourceSchema } from "../../api.ts";
import { area } from "../../step.ts";
import { ALL, binds, bound, claim, exports, GROUP, lets, ONE, served, VIEW } from "../../view.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
const schema = (at: string, name: string, more: object = {}) => ({
  ...{ name, served: true, storage: at === name, subresources: { status: {} } },
  schema: { type: "object", properties: { spec: { type: "object", properties: { size: { type: "integer" } } } } },
  ...more,
});
const versions = (names: readonly object[]) =>
  resourceSchema("v1.widgets.example.dev", { versions: names, conversion: { strategy: "None" } });

const about = (at: string) => [
  get(`${at}/api`),
  get(`${at}/api/v1`),
  get(`${at}/apis`),
  get(`${at}/apis/example.dev`),
  get(`${at}${GROUP}`),
  get(`${at}/apis/apis.kcp.io`),
  get(`${at}/apis/apis.kcp.io/v1alpha1`),
  get(`${at}/apis/apis.kcp.io/v1alpha2`),
];

export const viewDiscovery = area("view-discovery", {
  "of an export": [
    ...bound(),
    ...about(ONE),
    ...about(ALL),
    get(`${ONE}/apis/nothing.dev`),
    get(`${ONE}/apis/nothing.dev/v1`),
    get(`${ONE}/apis/example.dev/v9`),
    get(`${ONE}/apis/tenancy.kcp.io/v1alpha1`),
    get(`${ONE}${GROUP}/things`),
    get(`${ONE}${GROUP}/things`, { user: "root" }),
    get(`${ALL}${GROUP}/things`),
    get(`${ALL}/api/v1/configmaps`),
    get(`${ONE}/api/v1/configmaps`),
  ],
  "in other forms": [
    ...bound(),
    get(`${ONE}/apis`, { headers: { accept: AGGREGATED }, tell: ["kind"] }),
    get(`${ONE}/api`, { headers: { accept: AGGREGATED }, tell: ["kind"] }),
    get(`${ONE}/apis`, { headers: { accept: AGGREGATED.split(",")[0] ?? "" }, tell: ["kind"] }),
    get(`${ONE}/apis`, { headers: { accept: "application/yaml" } }),
    get(`${ONE}/apis`, { headers: { accept: "*/*" }, tell: ["kind"] }),
    get(`${ONE}/apis`, { headers: { accept: "text/html" } }),
    get(`${ONE}${GROUP}`, { headers: { accept: "text/html" } }),
    get(`${ONE}/apis/`, { tell: ["kind"] }),
    get(`${ONE}/api/`, { tell: ["kind"] }),
    { send: `POST ${ONE}/apis` },
    { send: `DELETE ${ONE}${GROUP}` },
    { send: `HEAD ${ONE}/apis` },
  ],
  "of claims": [
    ...exports({
      permissionClaims: [
        claim("configmaps"),
        claim("events", { group: "events.k8s.io", verbs: ["get"] }),
        claim("subjectaccessreviews", { group: "authorization.k8s.io" }),
        claim("apibindings", { group: "apis.kcp.io" }),
        claim("logicalclusters", { group: "core.kcp.io" }),
        claim("customresourcedefinitions", { group: "apiextensions.k8s.io" }),
      ],
    }),
    served(),
    get(`${ALL}/apis`),
    ...["/api/v1", "/apis/events.k8s.io/v1", "/apis/authorization.k8s.io/v1", "/apis/core.kcp.io/v1alpha1"].map(
      (path) => get(`${ALL}${path}`),
    ),
    ...["/apis/apis.kcp.io/v1alpha1", "/apis/apis.kcp.io/v1alpha2", "/apis/apiextensions.k8s.io/v1"].map((path) =>
      get(`${ALL}${path}`),
    ),
  ],
  "of several versions": [
    ...exports(
      {},
      versions([schema("v1", "v1"), schema("v1", "v1beta1"), schema("v1", "v2alpha1", { served: false })]),
    ),
    ...binds(),
    served(),
    lets(),
    get(`${ONE}/apis`),
    get(`${ONE}/apis/example.dev`),
    get(`${ONE}${GROUP}`),
    get(`${ONE}/apis/example.dev/v1beta1`),
    get(`${ONE}/apis/example.dev/v2alpha1`),
    get(`${ONE}/apis/example.dev/v2alpha1/widgets`),
  ],
  OpenAPI: [
    ...bound([claim("configmaps")]),
    get(`${ONE}/openapi/v3`, { names: "paths" }),
    get(`${ALL}/openapi/v3`, { names: "paths" }),
    get(`${ONE}/openapi/v3/apis/example.dev/v1`, { names: "paths" }),
    get(`${ONE}/openapi/v3/apis/example.dev/v1`, { names: "components.schemas" }),
    get(`${ONE}/openapi/v3/api/v1`, { names: "paths" }),
    get(`${ONE}/openapi/v3/apis/nothing.dev/v1`),
    get(`${ONE}/openapi/v2`, { tell: ["swagger"] }),
    get(`${ONE}/openapi/v3`, { user: "alice" }),
  ],
  "what every API server has": [
    ...bound(),
    get(`${ONE}/version`, { tell: ["kind"] }),
    ...["", "/", "/healthz", "/readyz", "/livez", "/nothing"].map((path) => get(`${ONE}${path}`, { tell: ["kind"] })),
    get(`${ALL}/`, { tell: ["kind"] }),
    get(`${VIEW}/clusters/$(ws)/logs`, { user: "root" }),
  ],
});
