// A provider with the export of examples/controller.ts, workspaces that bind it, and their users with kubectl.
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../tools/install.mjs";
import { Start } from "../../cli/support/start.ts";
import { example, Provided } from "./provided.ts";

export type { StartController } from "./provided.ts";

const CONTROLLER = join(root, "examples/controller.ts");
const KINDS = "sites.sites.example.dev";
const CLAIM = { group: "", resource: "configmaps", verbs: ["*"], state: "Accepted", selector: { matchAll: true } };
const BINDING = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIBinding",
  metadata: { name: "sites" },
  spec: { reference: { export: { path: "root:web", name: "sites" } }, permissionClaims: [CLAIM] },
};

interface Slice {
  readonly status?: { readonly endpoints?: readonly { readonly url: string }[] };
}

/** examples/controller.ts. */
export const ours = example(CONTROLLER);

/** A server with the workspace `root:web`, which exports sites. */
export class Sites extends Provided {
  static async ready(shards: number): Promise<Sites> {
    const sites = new Sites(await Start.ready(Provided.options(shards)), "sites");
    try {
      await sites.provide(CONTROLLER);
      return sites;
    } catch (error) {
      await sites[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Binds the export in `root:<name>`, and accepts its claim for ConfigMaps. */
  async bind(name: string): Promise<void> {
    await this.apply(`root:${name}`, BINDING);
    for (const state of ["jsonpath={.status.phase}=Bound", "condition=PermissionClaimsApplied"])
      await this.admin(`root:${name}`, "wait", "apibinding/sites", `--for=${state}`);
  }

  /** Waits for this many published URLs, and returns them. */
  async urls(count: number): Promise<string[]> {
    const path = "/clusters/root:web/apis/apis.kcp.io/v1alpha1/apiexportendpointslices/sites";
    const endpoints = ({ status }: Slice) => status?.endpoints ?? [];
    const slice = await this.read<Slice>(path, (slice) => endpoints(slice).length === count);
    return endpoints(slice).map(({ url }) => url);
  }

  /** Creates a site as a user. */
  async make(workspace: string, name: string, title: string): Promise<void> {
    const file = this.file({ apiVersion: "sites.example.dev/v1", kind: "Site", metadata: { name }, spec: { title } });
    expect(await this.user(workspace, "create", "-f", file)).to.equal(`site.sites.example.dev/${name} created`);
  }

  /** Waits for the results of a controller: the page of a site, and its status. */
  async published(workspace: string, name: string, title: string): Promise<void> {
    const wait = ["wait", "--timeout=30s", `${KINDS}/${name}`];
    expect(await this.user(workspace, ...wait, `--for=jsonpath={.status.title}=${title}`)).to.match(/condition met/);
    expect(await this.user(workspace, "get", "configmap", name, "-o", "jsonpath={.data.title}")).to.equal(title);
    const shown = ["get", KINDS, name, "-o", "jsonpath={.status.phase} {.metadata.finalizers[*]}"];
    expect(await this.user(workspace, ...shown)).to.equal("Ready sites.example.dev/page");
  }

  /** Waits until a site and its page are deleted. */
  async gone(workspace: string, name: string): Promise<void> {
    const wait = ["wait", "--timeout=30s", "--for=delete", `${KINDS}/${name}`];
    expect(await this.user(workspace, ...wait)).to.match(/condition met|not found|^$/);
    expect(await this.user(workspace, "get", "configmap", name)).to.match(/\(NotFound\)/);
  }
}
