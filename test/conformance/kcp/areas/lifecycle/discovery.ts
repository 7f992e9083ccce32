// Discovery in the views of waiting workspaces, over all workspaces and in one.
import { get } from "../../api.ts";
import { allOf, type Cases, oneOf, type Phase, typed, waiting } from "../../lifecycle.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
const CORE = "/apis/core.kcp.io/v1alpha1";
const LISTS = ["/api", "/api/v1", "/apis", "/apis/core.kcp.io", CORE, "/apis/tenancy.kcp.io", "/apis/nothing.dev/v1"];
const KINDS = ["/api/v1/configmaps", `${CORE}/shards`, "/apis/nothing.dev/v1/things"];
const OTHERS = ["", "/", "/version", "/healthz", "/readyz", "/livez", "/logs", "/nothing", "/apis/", "/api/"];

export const discovery = (phase: Phase): Cases => ({
  "of all": [
    ...typed(phase),
    ...LISTS.map((path) => get(`${allOf(phase)}${path}`)),
    ...KINDS.map((path) => get(`${allOf(phase)}${path}`)),
    ...OTHERS.map((path) => get(`${allOf(phase)}${path}`, { tell: ["kind"] })),
    get(`${allOf(phase)}/apis`, { headers: { accept: AGGREGATED }, tell: ["kind"] }),
    get(`${allOf(phase)}/apis`, { headers: { accept: "application/yaml" }, tell: ["kind"] }),
    get(`${allOf(phase)}/openapi/v3`, { names: "paths" }),
    get(`${allOf(phase)}/openapi/v3${CORE}`, { names: "paths" }),
    get(`${allOf(phase)}/openapi/v3/api/v1`, { names: "paths" }),
    get(`${allOf(phase)}/openapi/v2`, { tell: ["swagger"] }),
  ],
  "of one": [
    ...typed(phase),
    ...waiting(phase),
    ...LISTS.map((path) => get(`${oneOf(phase)}${path}`, { tell: ["kind"] })),
    get(`${oneOf(phase)}${CORE}`, { names: "resources" }),
    get(`${oneOf(phase)}/apis`, { names: "groups" }),
    ...KINDS.map((path) => get(`${oneOf(phase)}${path}`, { tell: ["kind"] })),
    ...OTHERS.map((path) => get(`${oneOf(phase)}${path}`, { tell: ["kind"] })),
    get(`${oneOf(phase)}/apis`, { headers: { accept: AGGREGATED }, tell: ["kind"] }),
    get(`${oneOf(phase)}/openapi/v3${CORE}`, { tell: ["openapi"] }),
    get(`${oneOf(phase)}/openapi/v3/api/v1`, { tell: ["openapi"] }),
    get(`${oneOf(phase)}/openapi/v2`, { tell: ["swagger"] }),
    get(`${oneOf(phase)}/api/v1`, { user: "root", tell: ["kind"] }),
    get(`${oneOf(phase)}/api/v1`, { user: "bob", tell: ["kind"] }),
  ],
});
