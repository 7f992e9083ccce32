// A world with a server for the shard `root` and the rules of its kinds.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { allow, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import { LogicalCluster, Shard, Workspace, WorkspaceType } from "@virtual-workspaces/kcp";
import type { IsAllowed } from "../../../../packages/workspace-server/src/authz/access.ts";
import { admitLogicalCluster } from "../../../../packages/workspace-server/src/workspaces/admission/admit-logical-cluster.ts";
import { admitWorkspace } from "../../../../packages/workspace-server/src/workspaces/admission/admit-workspace.ts";
import { admitWorkspaceType } from "../../../../packages/workspace-server/src/workspaces/admission/admit-workspace-type.ts";
import {
  admitPathAnnotation,
  admitShard,
} from "../../../../packages/workspace-server/src/workspaces/admission/workspace-admissions.ts";
import { type Answer, type PlainServer, startPlain } from "../../../_support/plain.ts";
import { Widget } from "./kinds.ts";
import type { World } from "./world.ts";

/** `admin` is the server's own administrator. */
const USERS = {
  admin: { name: "admin", groups: ["system:masters"] },
  alice: { name: "alice", uid: "1", groups: ["devs"], extra: { b: ["2"], a: ["1"] } },
  bob: { name: "bob" },
};

export interface ServedWorld extends PlainServer {
  /** Returns the path of a resource in a logical cluster: `workspaces`, `logicalclusters/cluster`. */
  at(cluster: string, what: string): `/${string}`;
}

const GROUPS: Readonly<Record<string, string>> = {
  logicalclusters: "core.kcp.io/v1alpha1",
  shards: "core.kcp.io/v1alpha1",
  workspaces: "tenancy.kcp.io/v1alpha1",
  workspacetypes: "tenancy.kcp.io/v1alpha1",
  widgets: "test.dev/v1",
};

/** @param isAllowed @default everything */
export async function serveWorld(world: World, isAllowed: IsAllowed = () => true): Promise<ServedWorld> {
  const { root } = world;
  const { objects } = root;
  const context = { shard: root, isAllowed };
  const types = admitWorkspaceType(context);
  const path = admitPathAnnotation(root);
  const view = defineVirtualWorkspace({
    name: "workspaces",
    prefix: "/clusters",
    path: "/:cluster",
    authorize: () => allow(),
    resources: [
      Workspace.serve(objects.of(Workspace), { admit: admitWorkspace(context) }),
      LogicalCluster.serve(objects.of(LogicalCluster), { admit: admitLogicalCluster() }),
      Shard.serve(objects.of(Shard), { admit: admitShard() }),
      Widget.serve(objects.of(Widget), { admit: path as never }),
      WorkspaceType.serve(objects.of(WorkspaceType), {
        admit: async (request) => {
          const object = ((await path(request as never)) ?? request.object) as WorkspaceType | undefined;
          await types({ ...request, object });
          return object;
        },
      }),
    ],
  });
  const server = await startPlain([view], { authentication: [staticTokens(USERS)] });
  return Object.assign(server, {
    at: (cluster: string, what: string): `/${string}` =>
      `/clusters/${cluster}/apis/${GROUPS[what.split("/")[0] ?? ""]}/${what}`,
  });
}

/** Returns an object of one of the kinds. */
export function manifest(kind: string, name: string, content: object = {}): KubeObject {
  const apiVersion = GROUPS[`${kind.toLowerCase()}s`] ?? "";
  return { apiVersion, kind, metadata: { name }, ...content } as KubeObject;
}

/** Returns the code of a rejection, and the text after `is forbidden: `. */
export function refusal({ status, body }: Answer): string {
  const message: string = body.message ?? "";
  return status < 300 ? `${status}` : `${status} ${message.replace(/^\S+ "\S+" is forbidden: /, "")}`;
}
