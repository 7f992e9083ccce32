// An export of sites, workspaces that bind it, and the controller that publishes them: test/go/provider.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { freePorts } from "../../_support/free-ports.ts";
import type { Start } from "../../cli/support/start.ts";
import { goProgram } from "./build.ts";
import { GoClient } from "./client.ts";

const MANIFESTS = join(import.meta.dirname, "../provider/manifests");
const TOKENS = "/clusters/root:provider/api/v1/namespaces/default/serviceaccounts/publisher/token";

/** What users do in workspaces of a server, by kubectl. Their controller is a service account of `root:provider`. */
export class Sites {
  server: Start;
  readonly kubeconfig: string;

  private constructor(server: Start) {
    this.server = server;
    this.kubeconfig = join(server.folder.path, "publisher.kubeconfig");
  }

  /** Makes the provider's workspace, with the export and the service account. */
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

  /** Makes a workspace below `root`, on a shard. @returns its logical cluster */
  async workspace(name: string, shard: string): Promise<string> {
    const location = { selector: { matchLabels: { name: shard } } };
    const spec = { type: { name: "universal", path: "root" }, location };
    await this.create("", { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec });
    await this.in("", "wait", "--for=jsonpath={.status.phase}=Ready", `workspace/${name}`);
    return this.in("", "get", "workspace", name, "-o", "jsonpath={.spec.cluster}");
  }

  /** Makes a workspace that binds the export. @returns its logical cluster */
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

  /** Makes a site. */
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

  /** What kubectl says in a workspace, `""` for root, where it must succeed. */
  async in(workspace: string, ...args: readonly string[]): Promise<string> {
    const said = await this.ask(workspace, ...args);
    expect(said, `${args.join(" ")}: ${said}`).to.match(/^0 /);
    return said.slice(2);
  }

  /** What kubectl says in a workspace, after its exit code. */
  ask(workspace: string, ...args: readonly string[]): Promise<string> {
    const at = workspace === "" ? "root" : `root:${workspace}`;
    return this.server.kubectl("--server", `${this.server.url}/clusters/${at}`, ...args);
  }

  /** What the page of a site says. */
  async page(workspace: string, site: string): Promise<string> {
    const said = await this.ask(workspace, "get", "configmap", `${site}-page`, "-o", "jsonpath={.data.index\\.html}");
    return said.replace(/^0 /, "");
  }

  /** Resolves when the page of a site is as its title says. */
  async shows(workspace: string, site: string, title: string): Promise<void> {
    while ((await this.page(workspace, site)) !== `<h1>${title}</h1>`);
  }

  /** URLs of the view. */
  async endpoints(): Promise<string[]> {
    const path = "jsonpath={.status.endpoints[*].url}";
    const urls = await this.in("provider", "get", "apiexportendpointslice", "sites", "-o", path);
    return urls.split(" ").filter((url) => url !== "");
  }
}

/** Resolves when a controller has told of something in a workspace, so many times. */
export async function told(controller: GoClient, event: string, of: string | readonly [string, number]): Promise<void> {
  const [cluster, times] = typeof of === "string" ? [of, 1] : of;
  const count = (): number => controller.all(event).filter((one) => one["cluster"] === cluster).length;
  await controller.until(`${event} in ${cluster}, ${times} times`, () => count() >= times, 60_000);
}

/** What a controller answers to a question: names of sites. Paths are known a moment after workspaces are engaged. */
export async function asked(controller: GoClient, question: string): Promise<string[]> {
  for (;;) {
    const before = controller.all("answer").length;
    controller.say(question);
    const { error, sites } = await controller.until("an answer", () => controller.all("answer")[before]);
    if (error === undefined) return sites;
    expect(error).to.match(/^cluster with name root:.* not found/);
  }
}

/** The first of two ports in a row that nobody listens on: a server that starts again has its shards where they were. */
export async function twoPorts(): Promise<number> {
  for (;;) {
    const [first = 0, second] = await freePorts(2);
    if (second === first + 1) return first;
  }
}
