import {
  allow,
  defineResource,
  defineVirtualWorkspace,
  type ServedResource,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import type { Random } from "../../_support/random.ts";
import type { Place } from "./watcher.ts";

/** Kind of the objects in histories. */
export const Thing = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Thing",
  scope: "Namespaced",
  spec: { type: "object", required: ["n", "team"], properties: { n: { type: "integer" }, team: { type: "string" } } },
  selectableFields: [".spec.team"],
});
export interface ThingContent {
  spec: { n: number; team: string };
}

/** Permissions: the object with a user's name lists teams. */
export const Grant = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Grant",
  scope: "Cluster",
  spec: { type: "object", required: ["teams"], properties: { teams: { type: "array", items: { type: "string" } } } },
});

export const TEAMS = ["red", "blue", "sealed"] as const;

export function things(...resources: ServedResource[]): VirtualWorkspace[] {
  return [
    defineVirtualWorkspace({
      name: "things",
      path: "/clusters/:cluster",
      wildcard: true,
      authorize: () => allow(),
      resources,
    }),
  ];
}

const ROOT = "/services/things/clusters";
const NAMED = "apis/test.dev/v1";

/** All objects, a cluster, a namespace, a label, a field: for each user. */
export const PLACES: readonly Place[] = (["alice", "bob"] as const).flatMap((user) =>
  [
    `${ROOT}/*/${NAMED}/things?`,
    `${ROOT}/c1/${NAMED}/things?`,
    `${ROOT}/c1/${NAMED}/namespaces/ns1/things?`,
    `${ROOT}/*/${NAMED}/things?labelSelector=l+in+(x,y)&`,
    `${ROOT}/c2/${NAMED}/things?fieldSelector=spec.team%3Dred&`,
  ].map((path) => ({ path, user })),
);

/** Returns whether a place shows an object of the view. */
export function isAt(
  { path }: Place,
  { cluster, namespace, label, team }: Record<"cluster" | "namespace" | "team", string> & { label: string | undefined },
): boolean {
  if (!path.includes("/*/") && !path.includes(`/${cluster}/`)) return false;
  if (path.includes("/namespaces/") && !path.includes(`/namespaces/${namespace}/`)) return false;
  if (path.includes("labelSelector") && label !== "x" && label !== "y") return false;
  return !path.includes("fieldSelector") || team === "red";
}

/** Returns a random place and content for an object. */
export function randomThing(random: Random) {
  return {
    cluster: random.pick(["c1", "c2"]),
    namespace: random.pick(["ns1", "ns2"]),
    name: random.pick(["a", "b", "c"]),
    label: random.pick(["x", "y", "z", undefined]),
    team: random.pick(TEAMS),
    n: random.below(3),
    gone: random.chance(0.3),
  };
}
