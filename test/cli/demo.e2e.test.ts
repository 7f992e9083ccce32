// `virtual-workspaces start` with the battery `demo`: it creates a tree, Alice and Bob, and prints output that kubectl
// confirms.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { processesIn } from "../_support/processes-in.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { Start } from "./support/start.ts";

const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly scripts: { readonly start: string };
};
/** The flags of `npm start`, with views of this clone and any free port. */
const flags = scripts.start
  .split(" ")
  .filter((flag) => /^--(batteries|view|mount)/.test(flag))
  .map((flag) => flag.replace("--view=", `--view=${root}/`));

describe("npm start: virtual-workspaces start with the demonstration", function () {
  this.timeout(120_000);
  before(needsKubectl);

  it("prints what kubectl answers as well, also after a restart", async () => {
    await using first = await Start.ready({ flags });
    const shown = await told(first);
    expect(shown).to.include("soup=4.50 stew=9.80");
    expect(shown).to.include("Exported by root:acme to root:acme:shop and root:acme:lab, with a view at ");
    expect(shown).to.match(/a cluster in a process of its own, as Alice\n.*\n {4}cluster=a plain one\n/);
    expect(shown).to.match(/through its view.*\n.*\n {4}soup=4\.50 stew=9\.80\n/);
    for (const view of ["published/clusters/<cluster>", "quotes/clusters/<cluster>"])
      expect(first.lines).to.include(`  ${first.url}/services/${view}`);
    const commands = [...shown.matchAll(/^ {4}\$ kubectl (.*)\n {4}(.*)$/gm)];
    expect(commands).to.have.length(12);
    for (const [, command = "", answer = ""] of commands) {
      const said = await first.kubectl(...command.replaceAll("'", "").split(" "));
      if (answer.startsWith("Error")) expect(said).to.equal(`1 ${answer}`);
      else expect(said).to.match(/^0 (?:NAME +(DATA|PRICE|SPACE|AGE)|NAMESPACE).*\n(menu|soup|stew|about|default) /);
    }
    await sees(first, shown);
    await seesSpaces(first);
    expect(await first.kubectl("--context", "alice", "get", "workspaces")).to.equal("0 No resources found");
    const inAcme = ["--context", "alice", "--server", `${first.url}/clusters/root:acme`];
    expect(await first.kubectl(...inAcme, "get", "workspaces", "-o", "jsonpath={..metadata.name}")).to.equal(
      "0 cluster lab link moved shop",
    );
    const moved = ["--context", "alice", "--server", `${first.url}/clusters/root:acme:moved`];
    expect(await first.kubectl(...moved, "get", "dishes", "-o", "name")).to.equal("0 dish.menu.example.dev/stew");
    const path = first.folder.path;
    expect(await first.end("SIGTERM")).to.equal(0);

    expect(processesIn(path)).to.deep.equal([]);
    await using second = await Start.ready({ in: path, flags });
    expect((await told(second)).replaceAll(second.url, "")).to.equal(shown.replaceAll(first.url, ""));
    // Two Spaces are processes of this machine. They end with the server, also where a test ends without it.
    if (process.platform === "linux") expect(processesIn(path)).to.have.length.at.least(2);
    await second[Symbol.asyncDispose]();
    expect(processesIn(path)).to.deep.equal([]);
  });

  it("is off by default", async () => {
    await using server = await Start.ready();
    expect(await server.kubectl("get", "workspaces")).to.equal("0 No resources found");
    expect(server.text("admin.kubeconfig")).not.to.include("alice");
  });
});

/** Tests the export's view as the demonstration shows it: a watch, a write in one workspace, a rejection in another. */
async function sees(server: Start, shown: string): Promise<void> {
  const [, view = ""] = /with a view at (.*):$/m.exec(shown) ?? [];
  const inShop = ["--context", "alice", "get", "dishes", "-o"];
  const shop = (await server.kubectl(...inShop, "jsonpath={.items[0].metadata.annotations['kcp\\.io/cluster']}")).slice(
    2,
  );
  const asAlice = (cluster: string): string[] => ["--context", "alice", "--server", `${view}/clusters/${cluster}`];
  const names = ["get", "dishes", "-o", "jsonpath={.items[*].metadata.name}"];
  expect((await server.kubectl(...asAlice("*"), ...names)).slice(2).split(" ").sort()).to.deep.equal(["soup", "stew"]);
  const watch = [...asAlice("*"), "get", "dishes", "--watch", "--request-timeout=2s", "-o", "name"];
  const patch = ["patch", "dish", "soup", "--type=merge", "-p", '{"spec":{"price":"5.00"}}'];
  const [seen, patched] = await Promise.all([server.kubectl(...watch), server.kubectl(...asAlice(shop), ...patch)]);
  expect(patched).to.equal("0 dish.menu.example.dev/soup patched");
  expect(seen).to.include("dish.menu.example.dev/stew");
  expect(await server.kubectl(...inShop, "jsonpath={.items[0].spec.price}")).to.equal("0 5.00");
  expect(await server.kubectl(...asAlice("root"), ...patch)).to.match(/^1 Error from server \(Forbidden\)/);
  const back = patch.join(" ").replace("5.00", "4.50").split(" ");
  expect(await server.kubectl(...asAlice(shop), ...back)).to.equal("0 dish.menu.example.dev/soup patched");
}

const PROVIDERS = "jsonpath={range .items[*]}{.metadata.name} {.spec.ProviderType} {.status.spaces}{'\\n'}{end}";

/** Tests two providers and their Spaces: the list, and all of them as one. */
async function seesSpaces(server: Start): Promise<void> {
  const { url } = server;
  const root = ["--context", "root", "--server"];
  const inSpaces = (...args: readonly string[]): Promise<string> =>
    server.kubectl(...root, `${url}/clusters/root:spaces`, ...args);
  expect(await inSpaces("get", "spaceproviderdescs", "-o", PROVIDERS)).to.equal(
    "0 default workspaces 3\nlocal processes 2",
  );
  expect(await inSpaces("get", "spaces", "-A")).to.match(/^0 NAMESPACE +NAME .*(\ndefault +\S+ .* Ready +\d+\w+){5}$/);
  const together = [...root, `${url}/services/spaces/*/*`, "get", "configmaps", "--field-selector=metadata.name=about"];
  const all = await server.kubectl(...together);
  const names = ["dev", "edge-east", "edge-west", "prod", "staging"];
  expect(all.match(/default\/\S+/g)).to.deep.equal(names.map((name) => `default/${name}`));
  // Users with access to the workspace of the demonstration have none to Spaces.
  expect(await server.kubectl("--context", "alice", ...together.slice(2))).to.match(
    /^1 Error from server \(Forbidden\)/,
  );
}

/** Returns the output after the server is ready. */
async function told(server: Start): Promise<string> {
  const text = (): string => server.lines.join("\n");
  await server.until("shown", () => /as one API server\n.*\n {4}\S/.test(text()), 60_000);
  return text().slice(text().indexOf("One object"));
}
