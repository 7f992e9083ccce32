// A provider with the workspace type of examples/initializer.ts, and workspaces of that type, created and deleted by a user's
// kubectl.
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../tools/install.mjs";
import { Start } from "../../cli/support/start.ts";
import { example, Provided } from "./provided.ts";

export const INITIALIZER = join(root, "examples/initializer.ts");
const WORKSPACES = "workspaces.v1alpha1.tenancy.kcp.io";

/** examples/initializer.ts. */
export const ours = example(INITIALIZER);

interface TypeObject {
  readonly status?: { readonly virtualWorkspaces?: readonly { readonly url: string; readonly type: string }[] };
}

/** A server with the workspace `root:web`, which has the type `team`, and alice's `root:org` for her teams. */
export class Teams extends Provided {
  /** @param server @default a new one with this many shards */
  static async ready(shards: number, server?: Start): Promise<Teams> {
    const teams = new Teams(server ?? (await Start.ready(Provided.options(shards))), "teams");
    try {
      await teams.provide(INITIALIZER);
      await teams.workspace("org", "root");
      return teams;
    } catch (error) {
      await teams[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Waits for this many URLs of a view, one of each shard, and returns them. */
  async urls(type: "initializing" | "terminating", count: number): Promise<string[]> {
    const path = "/clusters/root:web/apis/tenancy.kcp.io/v1alpha1/workspacetypes/team";
    const urls = ({ status }: TypeObject) =>
      (status?.virtualWorkspaces ?? []).filter((one) => one.type === type).map(({ url }) => url);
    return urls(await this.read<TypeObject>(path, (found) => urls(found).length === count));
  }

  /** Creates the team `root:org:<name>` on a shard, as alice. */
  async make(name: string, shard: string, type = "team"): Promise<void> {
    const location = { selector: { matchLabels: { name: shard } } };
    const spec = { type: { name: type, path: "root:web" }, location };
    const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec };
    expect(await this.user("org", "create", "-f", this.file(workspace))).to.match(/ created$/);
  }

  /** Waits until a team is in a phase. @returns its logical cluster */
  async phase(name: string, phase: string): Promise<string> {
    const wait = ["wait", "--timeout=30s", `${WORKSPACES}/${name}`, `--for=jsonpath={.status.phase}=${phase}`];
    expect(await this.user("org", ...wait), phase).to.match(/condition met/);
    return this.show(name, "{.spec.cluster}");
  }

  /** Returns a field of a team's workspace. */
  show(name: string, jsonpath: string): Promise<string> {
    return this.user("org", "get", WORKSPACES, name, "-o", `jsonpath=${jsonpath}`);
  }

  /** Waits until a team is Ready, and checks its content. @returns its logical cluster */
  async settled(name: string): Promise<string> {
    const cluster = await this.phase(name, "Ready");
    const there = `org:${name}`;
    const shown = ["get", "-n", "team", "configmap/handbook", "-o", "jsonpath={.data.workspace}"];
    expect(await this.user(there, ...shown)).to.equal(`root:org:${name}`);
    const readers = ["get", "-n", "team", "rolebinding/readers", "-o", "jsonpath={.roleRef.name} {.subjects[*].name}"];
    expect(await this.user(there, ...readers)).to.equal("view system:authenticated");
    return cluster;
  }

  /** Changes alice's handbook. */
  async write(name: string, text: string): Promise<void> {
    const patch = ["patch", "-n", "team", "configmap/handbook", "--type=merge", "-p", `{"data":{"motto":"${text}"}}`];
    expect(await this.user(`org:${name}`, ...patch)).to.equal("configmap/handbook patched");
  }

  /** Deletes a team as alice, without waiting for the end. */
  async leave(name: string): Promise<void> {
    expect(await this.user("org", "delete", WORKSPACES, name, "--wait=false")).to.match(/deleted/);
  }

  /** Waits until a team is deleted, and checks that its handbook was kept. */
  async kept(name: string, cluster: string, motto: string): Promise<void> {
    await this.gone(name);
    const shown = ["get", "configmap", `team-${cluster}`, "-o", "jsonpath={.data.workspace} {.data.motto}"];
    expect(await this.admin("root:web", ...shown)).to.equal(`root:org:${name} ${motto}`);
  }

  /** Waits until a team is deleted. */
  async gone(name: string): Promise<void> {
    const wait = ["wait", "--timeout=30s", "--for=delete", `${WORKSPACES}/${name}`];
    expect(await this.user("org", ...wait)).to.match(/condition met|not found|^$/);
  }
}
