// Targets of URLs, and answers to URLs that have none.
import { CORE, create, get, MAPS, NAMESPACES, namespace, ROOT, TENANCY, WS } from "../api.ts";
import { area, type User } from "../step.ts";

const EVERYBODY: readonly User[] = ["root", "admin", "alice", "nobody", "stranger"];
const asked = (path: string) => EVERYBODY.map((user) => get(path, { user, tell: ["kind"] }));

export const urls = area("urls", {
  "names that are none": ["Root", "root:", ":root", "root::org", "a_b", "a.b", "-a", "a-"].map((name) =>
    get(`/clusters/${name}/api`),
  ),
  "names that nobody has": asked(`/clusters/nothing${NAMESPACES}`),
  "an object where there is nothing": [
    get(`/clusters/nothing${NAMESPACES}/x`, { user: "root" }),
    get(`/clusters/nothing${CORE}/logicalclusters/cluster`, { user: "root" }),
  ],
  "paths that lead nowhere": [
    ...asked(`/clusters/root:nothing${NAMESPACES}`),
    get(`/clusters/root:a:b${NAMESPACES}`),
    get(`/clusters/user:nobody${NAMESPACES}`),
  ],
  "a workspace by name and by path": [
    get(`${WS}${NAMESPACES}/default`),
    get(`/clusters/$(path)${NAMESPACES}/default`),
    get(`/clusters/root%3A$(name)${NAMESPACES}/default`),
    get(`/clusters/$(path)`, { tell: ["nothing"] }),
  ],
  "a workspace that one may not enter": [
    get(`${WS}${MAPS}`, { user: "alice" }),
    get(`${WS}${MAPS}/x`, { user: "alice" }),
    get(`/clusters/$(path)${MAPS}`, { user: "alice" }),
    get(`${WS}/api`, { user: "alice" }),
    get(`${WS}/version`, { user: "alice" }),
    get(`${WS}/apis/nothing.dev/v1/things`, { user: "alice" }),
    get(`${WS}/healthz`, { user: "alice" }),
    create(`${WS}${NAMESPACES}`, namespace("x"), { user: "alice" }),
    get(`${WS}${MAPS}`, { user: "nobody" }),
    get(`${WS}${MAPS}`, { user: "stranger" }),
  ],
  "without a cluster": [
    ...asked("/api"),
    ...asked("/version"),
    get(NAMESPACES, { user: "alice" }),
    get(NAMESPACES, { user: "admin" }),
  ],
  probes: ["/livez", "/readyz", "/healthz"].flatMap((path) => [
    get(path, { user: "nobody" }),
    get(path, { user: "alice" }),
    get(`${ROOT}${path}`, { user: "alice" }),
    get(`${ROOT}${path}`, { user: "admin" }),
  ]),
  metrics: [
    get("/metrics", { user: "alice" }),
    get("/metrics", { user: "nobody" }),
    get(`${ROOT}/metrics`),
    get(`${WS}/metrics`),
  ],
  "what is asked in root by somebody": [
    get(`${ROOT}${MAPS}`, { user: "alice" }),
    get(`${ROOT}${TENANCY}/workspaces`, { user: "alice", tell: ["kind"] }),
    get(`${ROOT}${TENANCY}/workspacetypes`, { user: "alice", tell: ["kind"] }),
    get(`${ROOT}${TENANCY}/workspacetypes/universal`, { user: "alice" }),
    get(`${ROOT}${CORE}/logicalclusters/cluster`, { user: "alice" }),
    get(`${ROOT}/apis/core.kcp.io/v1alpha1/shards`, { user: "alice" }),
    get(`${ROOT}/apis/rbac.authorization.k8s.io/v1/clusterroles`, { user: "alice" }),
    create(`${ROOT}${NAMESPACES}`, namespace("x"), { user: "alice" }),
    get(`${ROOT}/nothing`, { user: "alice" }),
    get(`${ROOT}/nothing`),
    get(`${ROOT}/apis/nothing.dev/v1/things`),
    get(`${ROOT}/apis/apps/v1/deployments`),
    get(`${ROOT}/api/v1/pods`),
  ],
  "all clusters at once": [
    ...asked(`/clusters/*${NAMESPACES}`),
    ...asked("/clusters/*/api"),
    ...asked(`/clusters/*${TENANCY}/workspaces`),
    get(`/clusters/*${NAMESPACES}/default`, { user: "root" }),
    create(`/clusters/*${NAMESPACES}`, namespace("x"), { user: "root" }),
    get("/clusters/*/apis/nothing.dev/v1/things", { user: "root" }),
    get("/clusters/*/apis/example.dev/v1/widgets:abc", { user: "root" }),
    get(`/clusters/*${NAMESPACES}?labelSelector=nothing=here`, { user: "root", tell: ["kind", "items"] }),
  ],
  "identities that nobody has": [
    get(`${WS}/apis/tenancy.kcp.io/v1alpha1/workspaces:abc`),
    get(`${WS}/api/v1/namespaces/default/configmaps:abc`),
    get(`${WS}/apis/example.dev/v1/widgets:abc`),
  ],
  "methods and media types": [
    { send: `PUT ${WS}${NAMESPACES}` },
    { send: `POST ${WS}${NAMESPACES}/default` },
    { send: `OPTIONS ${WS}${NAMESPACES}` },
    get(`${WS}${NAMESPACES}/default`, { headers: { accept: "text/html" } }),
    { send: `POST ${WS}${NAMESPACES}`, text: "{" },
    { send: `POST ${WS}${NAMESPACES}`, text: "x", headers: { "content-type": "text/plain" } },
    create(`${WS}${NAMESPACES}`, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } }),
  ],
});
