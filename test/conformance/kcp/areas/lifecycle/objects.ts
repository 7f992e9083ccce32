// LogicalClusters of waiting workspaces: over all and in one, by every verb, and in watches as they enter and leave.
import { create, get, merge, ofType, remove, TABLE, WS, workspaceType } from "../../api.ts";
import {
  allOf,
  type Cases,
  CLUSTER,
  CLUSTERS,
  KIDS,
  oneOf,
  type Phase,
  rootOf,
  seen,
  TYPES,
  typed,
  waiting,
} from "../../lifecycle.ts";
import type { Ask, Step } from "../../step.ts";
import { quiet } from "../../view.ts";

const METADATA = { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" };
const names = { tell: ["kind", "apiVersion", "items.metadata.name", "metadata.remainingItemCount"] };
const METHODS = ["POST", "PUT", "PATCH", "DELETE"];
const BODY = { apiVersion: "core.kcp.io/v1alpha1", kind: "LogicalCluster", metadata: { name: "cluster" } };

const sends = (method: string, path: string, more: Partial<Ask> = {}): Ask => ({
  send: `${method} ${path}`,
  ...(method !== "DELETE" && { body: BODY }),
  ...(method === "PATCH" && { headers: { "content-type": "application/merge-patch+json" } }),
  ...more,
});
/** Lets a workspace leave the phase after its owner has seen it. */
const finishes = (phase: Phase, kid = "kid"): Ask =>
  merge(`${oneOf(phase, "setup", kid)}${CLUSTER}/status`, { status: { [phase.member]: [] } }, { tell: ["kind"] });

export const objects = (phase: Phase): Cases => ({
  read: [
    ...typed(phase),
    ...waiting(phase),
    get(`${allOf(phase)}${CLUSTERS}`),
    get(`${oneOf(phase)}${CLUSTER}`),
    get(`${oneOf(phase)}${CLUSTER}/status`, { tell: ["kind", "status"] }),
    get(`${WS.replace("ws", "kid.spec.cluster")}${CLUSTER}`, { tell: ["metadata.labels", "metadata.finalizers"] }),
    get(`${allOf(phase)}${CLUSTER}`),
    get(`${allOf(phase)}${CLUSTER}/status`),
    get(`${allOf(phase)}${CLUSTERS}`, { headers: TABLE }),
    get(`${oneOf(phase)}${CLUSTER}`, { headers: TABLE }),
    get(`${allOf(phase)}${CLUSTERS}`, { headers: METADATA }),
    get(`${oneOf(phase)}${CLUSTER}`, { headers: METADATA }),
    get(`${allOf(phase)}${CLUSTERS}`, { headers: { accept: "application/yaml" }, tell: ["kind"] }),
    get(`${allOf(phase)}${CLUSTERS}`, { headers: { accept: "text/html" } }),
    get(`${oneOf(phase)}${CLUSTERS}/other`),
    get(`${allOf(phase)}${CLUSTERS}/other`),
    get(`${oneOf(phase)}/apis/core.kcp.io/v9/logicalclusters/cluster`),
    get(`${oneOf(phase)}/apis/core.kcp.io/v1alpha1/namespaces/default/logicalclusters/cluster`),
  ],
  "in lists": [
    ...typed(phase),
    ...["a", "b", "c"].flatMap((kid) => waiting(phase, { kid })),
    get(`${allOf(phase)}${CLUSTERS}?limit=2`, { ...names, as: "page" }),
    get(`${allOf(phase)}${CLUSTERS}?limit=2&continue=$(page.metadata.continue)`, names),
    get(`${allOf(phase)}${CLUSTERS}?limit=1&continue=nothing`),
    get(`${allOf(phase)}${CLUSTERS}?limit=x`),
    get(`${allOf(phase)}${CLUSTERS}?labelSelector=tenancy.kcp.io/phase=Ready`, names),
    get(`${allOf(phase)}${CLUSTERS}?labelSelector=tenancy.kcp.io/phase`, names),
    get(`${allOf(phase)}${CLUSTERS}?labelSelector=a=b`, names),
    get(`${allOf(phase)}${CLUSTERS}?labelSelector=!a`, names),
    get(`${allOf(phase)}${CLUSTERS}?labelSelector=%3D%3D`),
    get(`${allOf(phase)}${CLUSTERS}?fieldSelector=metadata.name=cluster`, names),
    get(`${allOf(phase)}${CLUSTERS}?fieldSelector=metadata.name=other`, names),
    get(`${allOf(phase)}${CLUSTERS}?fieldSelector=status.phase=Ready`),
    get(`${allOf(phase)}${CLUSTERS}?resourceVersion=0`, names),
    get(
      `${allOf(phase)}${CLUSTERS}?resourceVersion=$(page.metadata.resourceVersion)&resourceVersionMatch=Exact`,
      names,
    ),
    get(`${allOf(phase)}${CLUSTERS}?resourceVersion=x`),
    get(`${allOf(phase)}/apis/core.kcp.io/v1alpha1/namespaces/default/logicalclusters`),
  ],
  "by other verbs": [
    ...typed(phase),
    ...waiting(phase),
    get(`${oneOf(phase)}${CLUSTERS}`),
    get(`${oneOf(phase)}${CLUSTERS}?watch=true`),
    ...[CLUSTERS, CLUSTER].flatMap((path) => METHODS.map((method) => sends(method, `${oneOf(phase)}${path}`))),
    ...["POST", "DELETE"].map((method) => sends(method, `${oneOf(phase)}${CLUSTER}/status`)),
    ...["GET", "PUT"].map((method) => sends(method, `${oneOf(phase)}${CLUSTER}/scale`)),
    get(`${oneOf(phase)}${CLUSTER}/nothing`),
    ...[CLUSTERS, CLUSTER, `${CLUSTER}/status`].flatMap((path) =>
      METHODS.map((method) => sends(method, `${allOf(phase)}${path}`)),
    ),
    get(`${oneOf(phase)}${CLUSTER}?watch=true`),
    get(`${allOf(phase)}${CLUSTER}?watch=true`),
  ],
  "out of the phase": [
    ...typed(phase),
    ...typed(phase, "other"),
    ...waiting(phase),
    get(`${rootOf(phase)}/$(ws)${CLUSTER}`),
    get(`${rootOf(phase)}/$(ws)${CLUSTER}/status`),
    merge(`${rootOf(phase)}/$(ws)${CLUSTER}/status`, { status: { conditions: [] } }),
    sends("PUT", `${rootOf(phase)}/$(ws)${CLUSTER}/status`),
    get(`${rootOf(phase)}/root${CLUSTER}`),
    get(`${rootOf(phase)}/nothing${CLUSTER}`),
    get(`${rootOf(phase)}/nothing${CLUSTER}`, { user: "root" }),
    get(`${rootOf(phase)}/system:admin${CLUSTER}`),
    get(`${oneOf(phase, "other")}${CLUSTER}`),
    get(`${oneOf(phase, "other")}${CLUSTER}/status`),
    get(`${allOf(phase, "other")}${CLUSTERS}`, names),
    get(
      `${rootOf(phase).replace(phase.is, phase.is === "initializing" ? "terminating" : "initializing")}/*${CLUSTERS}`,
      names,
    ),
    finishes(phase),
    get(`${oneOf(phase)}${CLUSTER}`, { until: { code: 404 } }),
    get(`${oneOf(phase)}${CLUSTER}/status`),
    finishes(phase),
    get(`${allOf(phase)}${CLUSTERS}`, names),
    ...(phase.is === "initializing" ? [remove(`${KIDS}/kid`, { tell: ["kind"] })] : []),
    get(`${KIDS}/kid`, { until: { code: 404 }, tell: ["kind"] }),
    get(`${oneOf(phase)}${CLUSTER}`, { tell: ["kind"] }),
  ],
  watched: [
    ...typed(phase),
    create(TYPES, workspaceType("plain", {}), quiet),
    ...waiting(phase, { kid: "first" }),
    ...ready(phase),
    get(`${allOf(phase)}${CLUSTERS}`, { ...names, as: "list" }),
    {
      watch: `${allOf(phase)}${CLUSTERS}?watch=true&resourceVersion=$(list.metadata.resourceVersion)`,
      meanwhile: phase.is === "initializing" ? create(KIDS, ofType("kid", "setup", "$(path)")) : remove(`${KIDS}/kid`),
      until: { object: { metadata: { name: "cluster" } } }, // MODIFIED where the label was there before
      tell: ["type", "object.kind", "object.metadata.name"],
    },
    get(`${KIDS}/kid`, { until: { body: { spec: { type: { name: "setup" } } } }, tell: ["kind"], as: "kid" }),
    seen(phase),
    get(`${allOf(phase)}${CLUSTERS}`, { ...names, as: "list" }),
    {
      watch: `${allOf(phase)}${CLUSTERS}?watch=true&resourceVersion=$(list.metadata.resourceVersion)`,
      meanwhile: finishes(phase),
      until: { type: "DELETED" },
      tell: ["type", "object.kind", `object.status.${phase.member}`],
    },
    get(`${oneOf(phase)}${CLUSTER}`),
    {
      watch: `${allOf(phase)}${CLUSTERS}?watch=true`,
      until: { type: "ADDED" },
      tell: ["type", "object.kind", "object.metadata.name"],
    },
    {
      watch: `${allOf(phase)}${CLUSTERS}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`,
      until: { type: "BOOKMARK" },
      tell: ["type", "object.kind", "object.metadata.name", "object.metadata.annotations.k8s.io/initial-events-end"],
    },
    {
      watch: `${allOf(phase)}${CLUSTERS}?watch=true&resourceVersion=0`,
      headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" },
      until: { type: "ADDED" },
      tell: ["type", "object.kind", "object.columnDefinitions.name", "object.rows.object.kind"],
    },
    {
      watch: `${allOf(phase)}${CLUSTERS}?watch=true`,
      headers: { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" },
      until: { type: "ADDED" },
      tell: ["type", "object.kind", "object.apiVersion"],
    },
    get(`${allOf(phase)}${CLUSTERS}?watch=true&resourceVersion=x`),
    get(`${allOf(phase)}${CLUSTERS}?watch=true&labelSelector=%3D%3D`),
  ],
});

/** Creates a workspace that enters the phase, for termination after its deletion. */
function ready({ is }: Phase): readonly Step[] {
  if (is === "initializing") return [];
  return [
    create(KIDS, ofType("kid", "setup", "$(path)"), quiet),
    get(`${KIDS}/kid`, { until: { body: { status: { phase: "Ready" } } }, tell: ["kind"] }),
  ];
}
