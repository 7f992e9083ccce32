// A server with the views, the workspace of a type's owner, and one in which a team creates workspaces of that type.
import {
  initializingWorkspacesView,
  type LifecycleViewOptions,
  PREPARES_ANNOTATION,
  preparingWorkspacesView,
  terminatingWorkspacesView,
  WorkspaceTypes,
} from "@virtual-workspaces/lifecycle";
import { memoryStore } from "@virtual-workspaces/store";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { type Answer, type Calls, callsTo, type WatchEvent } from "../../../_support/plain.ts";
import { untilAnswer } from "../../../_support/until.ts";
import { bind, grant, makeAdmin, makeWorkspace } from "../../../workspace-server/support/logical-clusters.ts";
import {
  startWorkspaces,
  type Workspaces,
  type WorkspacesOptions,
} from "../../../workspace-server/support/workspaces.ts";

export const root = { user: "root" };
export const LC = "/apis/core.kcp.io/v1alpha1/logicalclusters";
export const MAPS = "/api/v1/namespaces/default/configmaps";
const TENANCY = "/apis/tenancy.kcp.io/v1alpha1";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
/** Provides a namespace. */
export const UNIVERSAL = { extend: { with: [{ name: "universal", path: "root" }] } };
/** Permissions of a type's controllers. */
export const LISTED = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "list", "watch"] }];
export const JSON_PATCH = { headers: { "content-type": "application/json-patch+json" } };
/** Initializers that the server runs itself. */
const OF_SERVER = ["root:universal", "system:apibindings"];
const NOW = { allowCache: 200 };

/** Returns the views over the workspaces of a shard. */
export function lifecycleViews(options: LifecycleViewOptions) {
  const types = new WorkspaceTypes(options);
  return [initializingWorkspacesView, terminatingWorkspacesView, preparingWorkspacesView].map((view) =>
    view({ ...options, types }),
  );
}

/** Starts a server with the views over its own workspaces. */
export async function startViewed(options: WorkspacesOptions = {}): Promise<Workspaces> {
  const own = loopback();
  const virtualWorkspaces = lifecycleViews({ upstream: own.upstream, ...NOW });
  return startWorkspaces(memoryStore(), { loopback: own, virtualWorkspaces, ...options });
}

type View = "initializing" | "terminating" | "preparing";

/** Owner of a workspace type whose controllers `alice` runs; `bob` creates workspaces of it in `root:team`. */
export class Owner {
  readonly server: Workspaces;
  /** Logical cluster of the types. */
  readonly cluster: string;

  private constructor(server: Workspaces, cluster: string) {
    this.server = server;
    this.cluster = cluster;
  }

  /** @param types specs of the types by name */
  static async make(server: Workspaces, types: Readonly<Record<string, object>>): Promise<Owner> {
    const cluster = await makeWorkspace(server, "owner");
    const owner = new Owner(server, cluster);
    for (const [name, spec] of Object.entries(types)) await owner.type(name, spec);
    await owner.let("alice", ["initialize", "terminate", "prepare"]);
    await grant(server, cluster, { user: "bob", verbs: ["use"] });
    const team = await makeWorkspace(server, "team");
    await makeAdmin(server, team, "bob");
    return owner;
  }

  async type(name: string, spec: object): Promise<void> {
    const about = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "WorkspaceType", metadata: { name }, spec };
    await this.post(`/clusters/${this.cluster}${TENANCY}/workspacetypes`, about);
  }

  /** Sets whether a type prepares its workspaces. */
  async prepares(name: string, value: "true" | "false" | null): Promise<void> {
    const path = `clusters/${this.cluster}${TENANCY}/workspacetypes/${name}`;
    const patch = { metadata: { annotations: { [PREPARES_ANNOTATION]: value } } };
    const headers = { "content-type": "application/merge-patch+json" };
    const { status, text } = await this.server.send(`PATCH /${path}`, patch, { ...root, headers });
    expect(status, text).to.equal(200);
  }

  /** Lets a user act as the controller of all its types. @param what name of the role @default "controllers" */
  async let(user: string, verbs: readonly string[], what = "controllers"): Promise<void> {
    const name = `${what}-of-${user}`;
    const rules = [{ apiGroups: ["tenancy.kcp.io"], resources: ["workspacetypes"], verbs }];
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, rules };
    await this.post(`/clusters/${this.cluster}${RBAC}/clusterroles`, role);
    const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user };
    await bind(this.server, this.cluster, { name, role: name, subject });
    await bind(this.server, this.cluster, { name: `${name}-access`, role: "system:kcp:workspace:access", subject });
  }

  /** Revokes this permission. */
  async forbid(user: string): Promise<void> {
    const path = `clusters/${this.cluster}${RBAC}/clusterrolebindings/controllers-of-${user}`;
    expect((await this.server.send(`DELETE /${path}`, undefined, root)).status).to.equal(200);
  }

  /** Creates the workspace `root:team:<name>` as `bob`. @returns its logical cluster, which is initializing */
  async workspace(name: string, type = "app"): Promise<string> {
    const workspaces = `/clusters/root:team${TENANCY}/workspaces`;
    const spec = { type: { name: type, path: "root:owner" } };
    const about = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec };
    await this.post(workspaces, about, "bob");
    const { body } = await untilAnswer(
      () => this.server.get(`${workspaces}/${name}`, root),
      ({ body: { status } }) => status?.phase === "Initializing" || status?.phase === "Ready",
    );
    return body.spec.cluster;
  }

  /** Does the same, and waits until only controllers of these types are pending. */
  async settled(name: string, type = "app"): Promise<string> {
    const cluster = await this.workspace(name, type);
    await this.until(cluster, ({ body: { status } }) => !OF_SERVER.some((one) => status.initializers?.includes(one)));
    return cluster;
  }

  /** Removes the initializer or terminator of a type. */
  async finish(view: View, cluster: string, type = "app"): Promise<void> {
    const one = this.in(view, cluster, type);
    const { body } = await one.get(`${LC}/cluster`);
    const holders = view === "initializing" ? "initializers" : "terminators";
    const value = body.status[holders].filter((name: string) => name !== `${this.cluster}:${type}`);
    const patch = [{ op: "replace", path: `/status/${holders}`, value }];
    const changed = await one.send(`PATCH ${LC}/cluster/status`, patch, JSON_PATCH);
    expect(changed.status, changed.text).to.equal(200);
  }

  /** Deletes the workspace. */
  async remove(name: string): Promise<void> {
    const path = `clusters/root:team${TENANCY}/workspaces/${name}`;
    expect((await this.server.send(`DELETE /${path}`, undefined, { user: "bob" })).status).to.equal(200);
  }

  /** Returns a client of a type's view, in a logical cluster. @default all logical clusters */
  in(view: View, cluster = "*", type = "app"): Calls {
    return callsTo(`${this.server.url}/services/${view}workspaces/${this.cluster}:${type}/clusters/${cluster}`);
  }

  /** Waits until the LogicalCluster matches. */
  async until(cluster: string, is: (answer: Answer) => boolean): Promise<Answer> {
    return untilAnswer(() => this.server.get(`/clusters/${cluster}${LC}/cluster`, root), is);
  }

  /** Creates an object. @param user the creator @default the server's administrator */
  async post(path: `/${string}`, object: object, user = "root"): Promise<Answer["body"]> {
    const made = await this.server.send(`POST ${path}`, object, { user });
    expect(made.status, made.text).to.equal(201);
    return made.body;
  }
}

/** Returns the type of an event and the name of the logical cluster. */
export function told(event: WatchEvent | undefined): string {
  return `${event?.type} ${event?.object.metadata.annotations?.["kcp.io/cluster"]}`;
}

/** Returns a ConfigMap. */
export function map(name: string): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { by: "a controller" } };
}
