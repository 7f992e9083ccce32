// Export of sites, workspaces that bind it, and the controller that publishes them: test/go/provider.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { freePorts } from "../../_support/free-ports.ts";
import type { Start } from "../../cli/support/start.ts";
import { goProgram } from "./build.ts";
import { GoClient } from "./client.ts";

const MANIFESTS = join(import.meta.dirname, "../provider/manifests");
const TOKENS = "/clusters/root:provider/api/v1/namespaces/default/serviceaccounts/publisher/token";

/** Actions of users in the workspaces of a server, by kubectl. The controller is a service account of `root:provider`. */
export class Sites {
  server: Start;
  readonly kubeconfig: string;

  private constructor(server: Start) {
    this.server = server;
    this.kubeconfig = join(server.folder.path, "publisher.kubeconfig");
  }

  /** Creates the provider's workspace, with the export and the service account. */
  static async make(server: Start): Promise<Sites> {
    const sites = new Sites(server);
    await sites.workspace("provider", "root");
    await sites.in("provider", "apply", "-f", join(MANIFESTS, "export.yaml"));
    const request = sites.file({ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} });
    const { status } = JSON.parse(await sites.in("provider", "create", "--raw", TOKENS, "-f", request));
    const cluster = {
      server: `${server.url}/clusters/root:provider`,
      "certificate-authority": server.path("apiserver.crt"),
    };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "publisher",
      clusters: [{ name: "publisher", cluster }],
      contexts: [{ name: "publisher", context: { cluster: "publisher", user: "publisher" } }],
      users: [{ name: "publisher", user: { token: status.token } }],
    };
    writeFileSync(sites.kubeconfig, JSON.stringify(config), { mode: 0o600 });
    return sites;
  }

  /** Starts the controller. */
  run(...flags: readonly string[]): GoClient {
    return new GoClient(goProgram("provider", "provider"), flags, { KUBECONFIG: this.kubeconfig });
  }

  /** Creates a workspace below `root`, on a shard. @returns its cluster name */
  async workspace(name: string, shard: string): Promise<string> {
    const location = { selector: { matchLabels: { name: shard } } };
    const spec = { type: { name: "universal", path: "root" }, location };
    await this.create("", { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec });
    await this.in("", "wait", "--for=jsonpath={.status.phase}=Ready", `workspace/${name}`);
    return this.in("", "get", "workspace", name, "-o", "jsonpath={.spec.cluster}");
  }

  /** Creates a workspace that binds the export. @returns its cluster name */
  async consumer(name: string, shard: string): Promise<string> {
    const cluster = await this.workspace(name, shard);
    await this.bind(name);
    return cluster;
  }

  async bind(workspace: string): Promise<void> {
    const binding = readFileSync(join(MANIFESTS, "binding.yaml"), "utf8").replace("PROVIDER", "root:provider");
    const file = join(this.server.folder.path, "binding.yaml");
    writeFileSync(file, binding);
    await this.in(workspace, "create", "-f", file);
    await this.in(workspace, "wait", "--for=condition=PermissionClaimsApplied", "apibinding/sites");
  }

  /** Creates a site. */
  site(workspace: string, name: string, title: string): Promise<string> {
    return this.create(workspace, { apiVersion: "example.dev/v1", kind: "Site", metadata: { name }, spec: { title } });
  }

  async create(workspace: string, object: object): Promise<string> {
    return this.in(workspace, "create", "-f", this.file(object));
  }

  file(object: object): string {
    const file = join(this.server.folder.path, "object.json");
    writeFileSync(file, JSON.stringify(object));
    return file;
  }

  /** Returns the output of kubectl in a workspace, `""` for root. It must succeed. */
  async in(workspace: string, ...args: readonly string[]): Promise<string> {
    const said = await this.ask(workspace, ...args);
    expect(said, `${args.join(" ")}: ${said}`).to.match(/^0 /);
    return said.slice(2);
  }

  /** Returns the exit code and output of kubectl in a workspace. */
  ask(workspace: string, ...args: readonly string[]): Promise<string> {
    const at = workspace === "" ? "root" : `root:${workspace}`;
    return this.server.kubectl("--server", `${this.server.url}/clusters/${at}`, ...args);
  }

  /** Returns the page of a site. */
  async page(workspace: string, site: string): Promise<string> {
    const said = await this.ask(workspace, "get", "configmap", `${site}-page`, "-o", "jsonpath={.data.index\\.html}");
    return said.replace(/^0 /, "");
  }

  /** Resolves when the page of a site shows its title. */
  async shows(workspace: string, site: string, title: string): Promise<void> {
    while ((await this.page(workspace, site)) !== `<h1>${title}</h1>`);
  }

  /** Returns the URLs of the view. */
  async endpoints(): Promise<string[]> {
    const path = "jsonpath={.status.endpoints[*].url}";
    const urls = await this.in("provider", "get", "apiexportendpointslice", "sites", "-o", path);
    return urls.split(" ").filter((url) => url !== "");
  }
}

/** Resolves when a controller has sent an event about a workspace this many times. */
export async function told(controller: GoClient, event: string, of: string | readonly [string, number]): Promise<void> {
  const [cluster, times] = typeof of === "string" ? [of, 1] : of;
  const count = (): number => controller.all(event).filter((one) => one["cluster"] === cluster).length;
  await controller.until(`${event} in ${cluster}, ${times} times`, () => count() >= times, 60_000);
}

/** Returns the sites that a controller lists for a query. Paths are known shortly after a workspace is engaged. */
export async function asked(controller: GoClient, question: string): Promise<string[]> {
  for (;;) {
    const before = controller.all("answer").length;
    controller.say(question);
    const { error, sites } = await controller.until("an answer", () => controller.all("answer")[before]);
    if (error === undefined) return sites;
    expect(error).to.match(/^cluster with name root:.* not found/);
  }
}

/** Returns the first of two consecutive free ports, so that a restarted server has its shards at the same ports. */
export async function twoPorts(): Promise<number> {
  for (;;) {
    const [first = 0, second] = await freePorts(2);
    if (second === first + 1) return first;
  }
}
