// Discovery in root and in a new workspace.
import { get, ROOT, WS } from "../api.ts";
import { area, type Step } from "../step.ts";

const GROUPS = [
  "tenancy.kcp.io/v1alpha1",
  "core.kcp.io/v1alpha1",
  "apis.kcp.io/v1alpha1",
  "apis.kcp.io/v1alpha2",
  "topology.kcp.io/v1alpha1",
  "apiextensions.k8s.io/v1",
  "rbac.authorization.k8s.io/v1",
  "authentication.k8s.io/v1",
  "authorization.k8s.io/v1",
  "coordination.k8s.io/v1",
  "certificates.k8s.io/v1",
  "events.k8s.io/v1",
  "admissionregistration.k8s.io/v1",
  "apps/v1",
  "nothing.dev/v1",
];

const about = (at: string): Record<string, readonly Step[]> => ({
  "the groups": [get(`${at}/apis`)],
  "the core group": [get(`${at}/api`), get(`${at}/api/v1`)],
  ...Object.fromEntries(GROUPS.map((group) => [group, [get(`${at}/apis/${group}`)]])),
  "groups by themselves": [
    get(`${at}/apis/tenancy.kcp.io`),
    get(`${at}/apis/apis.kcp.io`),
    get(`${at}/apis/rbac.authorization.k8s.io`),
    get(`${at}/apis/nothing.dev`),
  ],
  aggregated: [
    get(`${at}/apis`, {
      headers: { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json" },
      tell: ["kind"],
    }),
    get(`${at}/api`, {
      headers: { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json" },
      tell: ["kind", "versions"],
    }),
  ],
  "OpenAPI v3": [get(`${at}/openapi/v3`, { names: "paths" })],
  "OpenAPI v2": [get(`${at}/openapi/v2`, { tell: ["swagger"] })],
});

/** Creating a workspace takes kcp seconds. */
export const discovery = area("discovery", {
  ...about(ROOT),
  "a workspace that is new": Object.values(about(WS)).flat(),
});
