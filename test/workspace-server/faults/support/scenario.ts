// Users work with kubectl in several workspaces at once, while the server is killed in between.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../../../_setup/tree.ts";
import { crd } from "../../../_support/crd.ts";
import { Start } from "../../../cli/support/start.ts";
import { kubectls } from "../../../e2e/support/kubectls.ts";
import { kubectl } from "../../../go/support/kubectl.ts";
import * as make from "./tree.ts";

const TOKENS = "alice-token,alice,1\n";
const NAMES = ["one", "two"] as const;
type Name = (typeof NAMES)[number];
/** Limits of two kinds of the same name, by their own rules. */
const MOST = { one: 10, two: 100 };

const ordered = (name: Name): object =>
  crd("Order", {
    group: "shop.dev",
    properties: {
      spec: {
        type: "object",
        properties: { size: { type: "integer" } },
        "x-kubernetes-validations": [
          { rule: `self.size <= ${MOST[name]}`, message: `${name} takes no more than ${MOST[name]}` },
        ],
      },
    },
  });
const order = (name: string, size: number): object => ({
  apiVersion: "shop.dev/v1",
  kind: "Order",
  metadata: { name },
  spec: { size },
});

/** Plays the scenario. @param flags select the store */
export async function playScenario(flags: readonly string[] = []): Promise<void> {
  const users = { "tokens.csv": TOKENS };
  using folder = tree(users);
  const parts = [makeTree, defineKinds, allow, bindExport, expectAll];
  for (const part of parts) {
    await using server = await Start.ready({ in: folder.path, flags, files: users });
    await part(new Shell(server));
    expect(server.stderr).not.to.match(/ error /);
    await server.end("SIGKILL");
  }
}

class Shell {
  readonly #server: Start;
  #files = 0;

  constructor(server: Start) {
    this.#server = server;
  }

  /** Runs kubectl in a workspace. @returns its exit code and output */
  async in(path: string, args: readonly string[], token?: string): Promise<string> {
    const place = [`--server=${this.#server.url}/clusters/${path}`, ...(token ? [`--token=${token}`] : [])];
    const { home } = this.#server;
    // The token of a kubeconfig would take precedence.
    const kubeconfig = token === undefined ? home.kubeconfig : this.file("anonymous.kubeconfig", this.#trusting());
    const said = await kubectl(kubectls()[0] ?? "", { home: home.home, kubeconfig }, [...place, ...args]);
    return `${said.code} ${said.stdout}${said.stderr}`;
  }

  async ok(path: string, args: readonly string[], token?: string): Promise<string> {
    const said = await this.in(path, args, token);
    expect(said, args.join(" ")).to.match(/^0 /);
    return said.slice(2);
  }

  create(path: string, object: object): Promise<string> {
    return this.in(path, ["create", "-f", this.file(`${this.#files++}.json`, object)]);
  }

  async made(path: string, ...objects: readonly object[]): Promise<void> {
    for (const object of objects) expect(await this.create(path, object)).to.match(/^0 .* created$/);
  }

  wait(path: string, name: string, what: string): Promise<string> {
    return this.ok(path, ["wait", name, `--for=${what}`, "--timeout=30s"]);
  }

  file(name: string, content: object): string {
    const file = join(this.#server.folder.path, name);
    writeFileSync(file, JSON.stringify(content));
    return file;
  }

  #trusting(): object {
    const cluster = { "certificate-authority": this.#server.path("apiserver.crt"), server: this.#server.url };
    return {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "it", cluster }],
      contexts: [{ name: "it", context: { cluster: "it" } }],
      "current-context": "it",
    };
  }
}

const both = (work: (name: Name) => Promise<void>): Promise<unknown> => Promise.all(NAMES.map(work));
/** Multiline, since discovery is rejected first. */
const REFUSED = /^1 .*[Ff]orbidden/s;
const at = (name: string): string => `root:org:${name}`;

async function makeTree(shell: Shell): Promise<void> {
  await shell.made("root", { ...make.workspace("org"), spec: { type: { name: "organization", path: "root" } } });
  await shell.wait("root", "workspace/org", "jsonpath={.status.phase}=Ready");
  await Promise.all(
    [...NAMES, "provider"].map(async (name) => {
      await shell.made("root:org", make.workspace(name));
      await shell.wait("root:org", `workspace/${name}`, "jsonpath={.status.phase}=Ready");
      await shell.made(at(name), make.configMap("first"));
    }),
  );
}

async function defineKinds(shell: Shell): Promise<void> {
  await both(async (name) => {
    await shell.made(at(name), ordered(name));
    await shell.wait(at(name), "crd/orders.shop.dev", "condition=Established");
    await shell.made(at(name), order("small", 5));
    const rule = `${name} takes no more than ${MOST[name]}`;
    expect(await shell.create(at(name), order("large", MOST[name] + 1))).to.match(
      new RegExp(`^1 .*is invalid.*${rule}`),
    );
  });
  await shell.made(at("two"), order("fits-only-here", 50));
}

/** Alice has no rights, then those granted to her, only where granted. */
async function allow(shell: Shell): Promise<void> {
  const orders = (name: Name): Promise<string> => shell.in(at(name), ["get", "orders", "-o", "name"], "alice-token");
  await both(async (name) => expect(await orders(name)).to.match(REFUSED) && undefined);
  await shell.ok(at("one"), ["create", "clusterrole", "orders", "--verb=get,list", "--resource=orders.shop.dev"]);
  await shell.ok(at("one"), ["create", "clusterrolebinding", "orders", "--clusterrole=orders", "--user=alice"]);
  await shell.ok(at("one"), [
    "create",
    "clusterrolebinding",
    "access",
    "--clusterrole=system:kcp:workspace:access",
    "--user=alice",
  ]);
  let said = "";
  for (let tries = 0; tries < 50 && !said.startsWith("0"); tries++) said = await orders("one");
  expect(said).to.equal("0 order.shop.dev/small");
  expect(await orders("two")).to.match(REFUSED);
  const write = ["create", "configmap", "x"];
  expect(await shell.in(at("one"), write, "alice-token")).to.match(REFUSED);
}

/** Both workspaces bind it; one accepts its claim, the other rejects it. */
async function bindExport(shell: Shell): Promise<void> {
  await shell.made(at("provider"), make.widgetSchema(), make.widgetExport("widgets"));
  await shell.wait(at("provider"), "apiexport/widgets", "condition=IdentityValid");
  await both(async (name) => {
    const claim = name === "one" ? "Accepted" : "Rejected";
    await shell.made(at(name), make.binding("widgets", at("provider"), claim));
    await shell.wait(at(name), "apibinding/widgets", "jsonpath={.status.phase}=Bound");
    await shell.made(at(name), make.widget(`in-${name}`));
  });
  await shell.wait(at("one"), "apibinding/widgets", "condition=PermissionClaimsApplied");
}

async function expectAll(shell: Shell): Promise<void> {
  const listed = await shell.ok("root:org", ["get", "workspaces", "-o", "name"]);
  expect(listed.split("\n")).to.deep.equal(
    ["one", "provider", "two"].map((name) => `workspace.tenancy.kcp.io/${name}`),
  );
  await both(async (name) => {
    expect(await shell.ok(at(name), ["get", "widgets", "-o", "name"])).to.equal(`widget.example.dev/in-${name}`);
    const rule = `no more than ${MOST[name]}`;
    expect(await shell.create(at(name), order("large", MOST[name] + 1))).to.include(rule);
    const labels = await shell.ok(at(name), ["get", "configmap", "first", "-o", "jsonpath={.metadata.labels}"]);
    if (name === "one") expect(labels).to.include("claimed.internal.apis.kcp.io/");
    else expect(labels).to.equal("");
    const applied = await shell.ok(at(name), [
      "get",
      "apibinding",
      "widgets",
      "-o",
      "jsonpath={.status.appliedPermissionClaims[*].resource}",
    ]);
    expect(applied).to.equal(name === "one" ? "configmaps" : "");
  });
  expect(await shell.ok(at("two"), ["get", "orders", "-o", "name"])).to.equal(
    "order.shop.dev/fits-only-here\norder.shop.dev/small",
  );
  expect(await shell.in(at("provider"), ["get", "widgets"])).to.match(/^1 .*the server doesn't have a resource type/s);
  expect(await shell.ok(at("one"), ["get", "orders", "-o", "name"], "alice-token")).to.equal("order.shop.dev/small");
  expect(await shell.in(at("two"), ["get", "orders", "-o", "name"], "alice-token")).to.match(REFUSED);
}
