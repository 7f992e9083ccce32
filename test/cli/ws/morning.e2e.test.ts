// A session at the terminal: `kubectl ws` as kubectl runs it, against a running server.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { kubectls, needsKubectl } from "../../e2e/support/kubectls.ts";
import { type KubectlHome, kubectl } from "../../go/support/kubectl.ts";
import { Front } from "../support/front.ts";
import { Start } from "../support/start.ts";

const BINDING = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIBinding",
  metadata: { name: "mounts" },
  spec: { reference: { export: { path: "root", name: "proxy.kcp.io" } } },
};
const mount = (name: string, type: string, path: string) => ({
  apiVersion: "proxy.kcp.io/v1alpha1",
  kind: "Mount",
  metadata: { name },
  spec: { type, path },
});

/** A server and its user. */
interface Place extends AsyncDisposable {
  readonly url: string;
  readonly home: KubectlHome;
  readonly user: string;
}

const USERS = "root-token,admin,1,system:kcp:admin\nbob-token,bob,2\n";
const FLAGS = ["--batteries-included=+mounts"];

/** Starts a server, with its own address and the administrator of its kubeconfig. */
async function server(): Promise<Place> {
  const running = await Start.ready({ flags: FLAGS, files: { "tokens.csv": USERS } });
  const env = { PATH: `${running.path("bin")}:${process.env["PATH"]}` };
  const home = { ...running.home, env };
  return { url: running.url, home, user: "kcp-admin", [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

/** Starts two shards behind a front proxy in its own process, with a user of the front proxy. */
async function frontProxy(): Promise<Place> {
  const front = await Front.ready({ flags: FLAGS, users: USERS });
  const env = { PATH: `${front.server.path("bin")}:${process.env["PATH"]}` };
  const home = front.in("/clusters/root", "root-token", env);
  return { url: front.url, home, user: "admin", [Symbol.asyncDispose]: () => front[Symbol.asyncDispose]() };
}

for (const [where, start] of Object.entries({ "at a server": server, "through a front proxy": frontProxy }))
  describe(`a session with kubectl ws, ${where},`, function () {
    this.timeout(120_000);
    let place: Place;

    before(async function () {
      needsKubectl.call(this);
      place = await start();
    });
    after(() => place?.[Symbol.asyncDispose]());

    /** Returns the exit code and all output. */
    async function ws(...args: string[]): Promise<string> {
      const { code, stdout, stderr } = await kubectl(kubectls()[0] ?? "", place.home, ["ws", ...args]);
      return `${code} ${[stdout, stderr].filter((text) => text !== "").join("\n")}`;
    }
    async function run(...args: string[]): Promise<string> {
      const { code, stdout, stderr } = await kubectl(kubectls()[0] ?? "", place.home, args);
      return `${code} ${stdout}${stderr}`;
    }
    async function apply(object: object): Promise<void> {
      const file = join(place.home.home, "object.json");
      writeFileSync(file, JSON.stringify(object));
      expect(await run("create", "-f", file)).to.match(/^0 /);
    }

    it("begins at the workspace of the kubeconfig, and creates and enters workspaces", async () => {
      expect(await ws(".")).to.equal("0 Current workspace is 'root'.");
      expect(await ws("create", "acme", "--type=root:organization", "--enter")).to.equal(
        `0 Workspace "acme" (type root:organization) created. Waiting for it to be ready...
Workspace "acme" (type root:organization) is ready to use.
Current workspace is 'root:acme' (type root:organization).`,
      );
      expect(await run("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")).to.equal(`0 ${place.user}`);
      expect(await ws("create", "lab")).to.match(/^0 .*is ready to use\.$/s);
      expect(await ws("create", "lab")).to.match(/^1 Error: .*"lab" already exists$/);
      expect(await ws("create", "lab", "--ignore-existing", "--create-context=lab")).to.equal(
        `0 Workspace "lab" (type root:universal) already exists.
Workspace "lab" (type root:universal) is ready to use.
Created context "lab".`,
      );
      expect(await ws("create", "lab", "--ignore-existing", "--type=root:team")).to.equal(
        '1 Error: workspace "lab" cannot be created with type root:team, it already exists with different type root:universal',
      );
      expect(await run("create", "workspace", "shelf", "-w", "lab")).to.match(/^0 .*is ready to use\.$/s);
      expect(await run("config", "get-contexts", "-o", "name")).to.include("\nlab\n");
    });

    it("enters mounted workspaces", async () => {
      await apply(BINDING);
      expect(await run("wait", "apibinding/mounts", "--for=jsonpath={.status.phase}=Bound")).to.match(/^0 /);
      await apply(mount("link", "Workspace", "root:acme:lab"));
      await apply(mount("moved", "Redirect", "root:acme:lab"));
      expect(await ws("create", "link", "--mount=mount/link")).to.equal(
        `0 Workspace "link" (mounted from Mount link) created. Waiting for it to be ready...
Workspace "link" (mounted from Mount link) is ready to use.`,
      );
      expect(await ws("create", "moved", "--mount=mounts.proxy.kcp.io/moved")).to.match(/^0 .*is ready to use\.$/s);
      expect(await ws("create", "link", "--ignore-existing", "--type=root:team")).to.match(
        /^1 Error: workspace "link" cannot be created with type root:team, it already exists, and is mounted$/,
      );
      expect(await ws("create", "x", "--mount=nothing/x")).to.equal(
        '1 Error: --mount nothing/x: the workspace root:acme has no resource "nothing"',
      );
      expect(await ws("create", "x", "--mount=mount/nothing")).to.match(/^1 Error: .*"nothing" not found$/);
    });

    it("shows the tree", async () => {
      expect(await ws("tree")).to.equal(`0 .
└── acme
    ├── lab
    │   └── shelf
    ├── link [m]
    └── moved [m]
`);
      expect(await ws("tree", "-f", "-w", "lab")).to.equal("0 .\n└── root:acme:lab\n    └── root:acme:lab:shelf\n");
      expect(await ws("tree", "--wide")).to.equal(`0 .
└── acme           ws=-      lc=Ready
    ├── lab        ws=Ready  lc=Ready
    │   └── shelf  ws=Ready  lc=Ready
    ├── link [m]   ws=Ready  mount=Mount/link (Workspace)
    └── moved [m]  ws=Ready  mount=Mount/moved (Redirect)
`);
    });

    it("gets the objects of all workspaces", async () => {
      for (const [path, name] of [
        ["root:acme", "menu"],
        ["root:acme:lab:shelf", "menu"],
        ["root:acme:lab:shelf", "other"],
      ]) {
        const at = ["-s", `${place.url}/clusters/${path}`];
        expect(await run(...at, "create", "configmap", name ?? "", "--from-literal=a=b")).to.match(/^0 /);
      }
      expect(await run("label", "configmap", "menu", "of=acme")).to.match(/^0 /);
      const own = (text: string): string =>
        text.replace(/^.*kube-root-ca.crt.*\n?/gm, "").replaceAll(/\d+s\b/g, "<age>");
      expect(own(await ws("get", "cm", "-r"))).to.equal(`0 WORKSPACE             NAME               DATA   AGE
root:acme             menu               1      <age>
root:acme:lab:shelf   menu               1      <age>
root:acme:lab:shelf   other              1      <age>`);
      expect(await ws("get", "configmaps", "-r", "-l", "of=acme", "-o", "name")).to.equal("0 root:acme configmap/menu");
      const { items } = JSON.parse((await ws("get", "cm", "-r", "-w", "lab", "-o", "json")).slice(2)) as {
        readonly items: readonly { readonly kind: string; readonly metadata: { readonly name: string } }[];
      };
      expect(items.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).to.include("ConfigMap other");
      expect(await ws("get", "mounts.proxy.kcp.io", "-r", "-o", "yaml")).to.match(
        /^0 apiVersion: v1\nkind: List\n.*path: root:acme:lab/s,
      );
      expect(await ws("get", "mounts", "-r", "-A", "-o", "wide")).to.match(
        /^0 WORKSPACE +NAME +TYPE +PHASE +URL +AGE\nroot:acme +link +Workspace +Ready +https:/,
      );
      expect(await ws("get", "secrets", "-r", "-n", "nowhere")).to.equal(
        "0 No resources found in root:acme and below.",
      );
      expect(await ws("get", "nothing", "-r")).to.equal(
        '1 Error: no workspace here has a resource "nothing" that you may list',
      );
      expect(await ws("get", "cm")).to.match(/^2 Error: --recursive is required: for a single workspace/);
      expect(await ws("get", "cm", "-r", "-o", "jsonpath={}")).to.match(
        /^2 Error: invalid value "jsonpath=\{\}" for --output: use wide, name, json or yaml/,
      );
    });

    it("follows links and redirects, and goes up and back", async () => {
      expect(await ws("link/shelf")).to.match(/^1 Error: workspace "root:acme:link:shelf": .*mount/);
      expect(await ws("link")).to.equal("0 Current workspace is 'root:acme:link'.");
      expect(await ws("tree"), "of what it leads to").to.equal("0 .\n└── link\n    └── shelf\n");
      expect(await ws("create", "box", "--type=root:universal")).to.match(
        /^0 Workspace "box" \(type root:universal\) created\. Waiting for it to be ready\.\.\.\nWorkspace "box" \(type root:universal\) is ready at https:\S+\/clusters\/[\w:]+: enter it there, since root:acme:link is a mount\.$/,
      );
      expect(await ws("create", "box", "--ignore-existing", "--enter")).to.match(
        /^1 .*Error: workspace "root:acme:link:box": .*mount/s,
      );
      expect(await ws("-")).to.equal("0 Current workspace is 'root:acme'.");
      expect(await ws("moved")).to.equal("0 Current workspace is 'root:acme:lab' (type root:universal).");
      expect(await ws("shelf")).to.equal("0 Current workspace is 'root:acme:lab:shelf' (type root:universal).");
      expect(await ws("../..")).to.equal("0 Current workspace is 'root:acme' (type root:organization).");
      expect(await ws(":")).to.equal("0 Current workspace is 'root'.");
      expect(await ws("root:acme", "--short")).to.match(/^0 root:acme\n?Note: Using 'root:'/);
      expect(await ws(`${place.url}/clusters/root:acme:lab`, "--short")).to.equal("0 root:acme:lab");
      expect(await ws("current", "--short")).to.equal("0 root:acme:lab");
      expect(await ws("..", "--short")).to.equal("0 root:acme");
    });

    it("fails for missing workspaces, and for those of other users", async () => {
      const before = readFileSync(place.home.kubeconfig, "utf8");
      expect(await ws("nope")).to.equal('1 Error: workspace "root:acme:nope" not found');
      expect(await ws("lbb")).to.equal('1 Error: workspace "root:acme:lbb" not found: did you mean "root:acme:lab"?');
      for (const word of ["ls", "list"])
        expect(await ws(word)).to.equal(
          `1 Error: workspace "root:acme:${word}" not found: "kubectl ws tree" and "kubectl get workspaces" list workspaces`,
        );
      expect(await ws("tre")).to.equal('1 Error: workspace "root:acme:tre" not found: did you mean "kubectl ws tree"?');
      expect(await ws("--bogus")).to.equal("2 Error: unknown flag --bogus; see kubectl ws --help");
      expect(await ws("tree", "--wdie")).to.match(/unknown flag --wdie: did you mean --wide\?/);
      // Suggestions never name what the caller may not list.
      expect(await ws("lbb", "--as=bob"))
        .to.match(/^1 Error: .*root:acme:lbb/)
        .and.not.include("root:acme:lab");
      expect(await ws("..:..:..")).to.equal("1 Error: cannot go up from root");
      expect(await ws("A b")).to.equal("1 Error: invalid workspace path: A b");
      for (const flag of ["--token=bob-token", "--as=bob"])
        expect(await ws("lab", flag)).to.equal(
          '1 Error: access to workspace "root:acme:lab" denied: forbidden: User "bob" cannot get path "/apis": access denied',
        );
      expect(await ws("tree", "--as=bob")).to.match(/^1 Error: workspaces.* is forbidden: User "bob"/);
      expect(await ws("https://other.example/clusters/root")).to.match(/^1 Error: .* is not a URL of https:/);
      expect(await ws("--server=https://127.0.0.1:1", "lab")).to.match(/^1 Error: .*127\.0\.0\.1:1/);
      expect(await ws("tree", "--short")).to.match(/^2 Error: --short is not a flag of this command: kubectl ws tree /);
      expect(await ws("create")).to.match(/^2 Error: usage: kubectl ws create <name> /);
      expect(await ws("--nonsense")).to.match(/^2 Error: unknown flag --nonsense/);
      expect(readFileSync(place.home.kubeconfig, "utf8"), "nothing was written").to.equal(before);
    });

    it("ends in the home workspace", async () => {
      const home = await ws();
      expect(home).to.match(/^0 Current workspace is '\w+'\.\nNote: 'kubectl ws' now matches 'cd' semantics/);
      expect(await ws("create", "own", "--enter")).to.match(/^0 .*Current workspace is '\w+:own' \(type /s);
      expect(await ws("~")).to.equal(home.split("\n")[0]);
      expect(await ws("~:own")).to.match(/^0 Current workspace is '\w+:own'/);
      expect(await ws("create-context", "own")).to.equal('0 Created context "own" and switched to it.');
      expect(await ws("create-context", "own")).to.match(/^1 Error: context "own" already exists in kubeconfig/);
      expect(await ws("--context=base", ".")).to.match(/^0 Current workspace is the URL "https:/);
      expect(await ws("--context=base", "tree")).to.match(/^0 current context URL ".*" does not point directly to/);
    });
  });
