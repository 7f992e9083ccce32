// `kubectl ws tree` of one server with one list and with a walk: a proxy in between counts requests, and can block the view.
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { baseName, parentPath } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import { localNode, root } from "../../../tools/install.mjs";
import { type Tree, tree } from "../../_setup/tree.ts";
import { until } from "../../_support/until.ts";
import { Program } from "../../go/support/program.ts";
import { bind, makeWorkspace } from "../../workspace-server/support/logical-clusters.ts";
import { ClusterClient } from "../../workspace-server/support/objects.ts";
import { startWorkspaces, type Workspaces } from "../../workspace-server/support/workspaces.ts";

const PLUGIN = ["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/kubectl-ws.ts")];
const KIND = "/apis/tenancy.kcp.io/v1alpha1/workspaces";
const VIEW = "/services/workspaces/";
const TYPE = { name: "universal", path: "root" };
const MANY = 200;

describe("kubectl ws tree, in one list and by walking,", function () {
  this.timeout(120_000);
  let server: Workspaces;
  let gate: Server;
  let folder: Tree;
  /** Status that the view answers instead of its objects. */
  let refused: number | undefined;
  let asked: string[];

  before(async () => {
    server = await startWorkspaces();
    gate = createServer((req, res) => {
      asked.push(req.url ?? "");
      if (refused !== undefined && req.url?.startsWith(VIEW)) {
        res.writeHead(refused, { "Content-Length": 0 }).end();
        return;
      }
      const { method, headers } = req;
      const on = request(`${server.url}${req.url}`, { method: method ?? "GET", headers }, (answer) => {
        res.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(res);
      });
      on.on("error", () => res.destroy());
      req.pipe(on);
    }).listen(0, "127.0.0.1");
    await once(gate, "listening");
    const url = `http://127.0.0.1:${(gate.address() as AddressInfo).port}/clusters/root`;
    const config = {
      "current-context": "c",
      clusters: [{ name: "k", cluster: { server: url } }],
      users: [
        { name: "u", user: { token: "root" } },
        { name: "alice", user: { token: "alice" } },
      ],
      contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
    };
    folder = tree({ config: JSON.stringify(config) });
    await makeWorkspace(server, "one");
    await make("root:one:deep");
    const one = new ClusterClient(server, "root:one");
    await one.until(`${KIND}/deep`, ({ body: { status } }) => status?.phase === "Ready");
    await make("root:one:mounted", { mount: { ref: { apiVersion: "v1", kind: "ConfigMap", name: "x" } } });
    await make("root:one:nowhere", { type: TYPE, location: { selector: { matchLabels: { no: "shard" } } } });
    await make("root:one:going", { type: TYPE }, ["test.dev/stays"]);
    const gone = await server.send(`DELETE /clusters/root:one${KIND}/going`, undefined, { user: "root" });
    expect(gone.status, gone.text).to.equal(200);
  });
  after(async () => {
    gate.close();
    gate.closeAllConnections();
    folder[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    refused = undefined;
    asked = [];
  });

  async function make(place: string, spec: object = { type: TYPE }, finalizers: readonly string[] = []): Promise<void> {
    const name = baseName(place);
    const body = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name, finalizers }, spec };
    const { status, text } = await server.send(`POST /clusters/${parentPath(place)}${KIND}`, body, { user: "root" });
    expect(status, text).to.equal(201);
  }
  const ws = (...args: string[]) => run("tree", ...args);
  async function run(...args: string[]): Promise<{ readonly out: string; readonly said: string }> {
    const env = { HOME: folder.path, KUBECONFIG: join(folder.path, "config") };
    await using program = new Program(localNode, [...PLUGIN, ...args], env);
    const { code } = await program.ended;
    return { out: `${code} ${program.lines.join("\n")}`, said: program.stderr.trimEnd() };
  }

  it("prints the same, including mounts and workspaces that are not ready or in deletion", async () => {
    for (const args of [[], ["-f"], ["--wide"], ["-f", "-w", "one"], ["-w", "one:deep"]]) {
      refused = undefined;
      const listed = await ws(...args);
      for (refused of [403, 404]) expect((await ws(...args)).out, args.join(" ")).to.equal(listed.out);
    }
    refused = undefined;
    const { out } = await ws("-w", "one");
    expect(out).to.match(/^0 \.\n└── one\n {4}├── deep\n {4}├── mounted \[m\]\n {4}└── nowhere\n?$/);
  });

  it("fails if the view exists and does not answer, instead of printing a walk's result", async () => {
    for (refused of [500, 503]) expect((await ws()).out).to.match(/^1 /);
    expect(asked.filter((url) => !url.startsWith(VIEW))).to.deep.equal([]);
  });

  it("shows users the workspaces that they may enter, and the way to them, below the root, a home, and a cluster name", async () => {
    const cluster = await makeWorkspace(server, "lab");
    const alice = async (...args: string[]) => Object.values(await ws("--user=alice", ...args));
    expect(await alice(), "none").to.deep.equal(["0 .\n└── root\n", ""]);
    await until(async () => (await server.get(`/clusters/root${KIND}/~`, { user: "alice" })).status === 200);
    expect(await alice("-w", ":user:alice"), "none").to.deep.equal(["0 .\n└── alice\n", ""]);
    await make("user:alice:of-root");
    await make("root:lab:closed");
    await make("root:lab:open");
    await new ClusterClient(server, "root:lab").until(
      `${KIND}/open`,
      ({ body: { status } }) => status?.phase === "Ready",
    );
    expect(await alice("-w", ":user:alice"), "none").to.deep.equal(["0 .\n└── alice\n", ""]);
    expect(await alice("-w", ":root:lab"), "no access").to.deep.equal([
      "1 ",
      'Error: access to workspace "root:lab" denied: forbidden: User "alice" cannot get path "/apis": access denied',
    ]);
    const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" };
    const enter = { name: "enter-alice", role: "system:kcp:workspace:access", subject };
    await bind(server, cluster, enter);
    expect(await alice()).to.deep.equal(["0 .\n└── root\n    └── lab\n", ""]);
    expect(await alice("-w", `:${cluster}`)).to.deep.equal([`0 .\n└── ${cluster}\n`, ""]);
    await bind(server, "root:lab:open", enter);
    expect(await alice("-f", "-w", `:${cluster}`)).to.deep.equal([
      `0 .\n└── ${cluster}\n    └── ${cluster}:open\n`,
      "",
    ]);
    const binding = `apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${enter.name}`;
    await server.send(`DELETE /clusters/${cluster}/${binding}`, undefined, { user: "root" });
    const gone = ({ status }: { readonly status: number }): boolean => status === 403;
    await until(async () => gone(await server.get(`/clusters/root:lab${KIND}`, { user: "alice" })));
    expect(await alice(), "the way to open").to.deep.equal([
      "0 .\n└── root\n    └── lab [no access]\n        └── open\n",
      "",
    ]);
    expect((await alice("--wide"))[0]).to.match(/── lab \[no access\] +ws=- +lc=-\n +└── open +ws=Ready +lc=\w+\n/);
    await bind(server, "root:lab:open", { ...enter, name: "read-alice", role: "cluster-admin" });
    const [read, said] = Object.values(await run("get", "configmaps", "-r", "-o", "name", "--user=alice"));
    expect(read, said)
      .to.match(/^0 /)
      .and.include("root:lab:open")
      .and.not.match(/root:lab +configmap/);
    expect(said).to.not.include("root:lab:");
  });

  it(`sends one request for ${MANY} workspaces`, async () => {
    await makeWorkspace(server, "many");
    for (let n = 0; n < MANY; n++) await make(`root:many:w${n}`);
    asked = [];
    const { out } = await ws();
    expect(out.match(/── w\d+/g)).to.have.length(MANY);
    expect(asked).to.have.length(1);
  });
});
