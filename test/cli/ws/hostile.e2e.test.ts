// A server that tries to lead `kubectl ws` to another host, or to control the terminal.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { localNode, root } from "../../../tools/install.mjs";
import { type Tree, tree } from "../../_setup/tree.ts";
import { Program } from "../../go/support/program.ts";
import { HAS_PTY, Pty } from "../support/pty.ts";

const PLUGIN = ["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/kubectl-ws.ts")];
const WORKSPACES = "/apis/tenancy.kcp.io/v1alpha1/workspaces";

const homeAt = (URL: string): object => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  metadata: { name: "~" },
  spec: { URL },
});

async function listening(answer: (req: IncomingMessage, res: ServerResponse) => void): Promise<Server> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

describe("kubectl ws with a hostile server", function () {
  this.timeout(30_000);
  let folder: Tree;
  let hostile: Server;
  let other: Server;
  /** Answers by path, without the query. */
  let answers: Record<string, { readonly to: string } | object>;
  let askedOther: number;

  before(async () => {
    hostile = await listening(({ url = "" }, res) => {
      const answer = answers[url.split("?")[0] ?? ""];
      if (answer === undefined) res.writeHead(404, { "Content-Length": 0 }).end();
      else if ("code" in answer)
        res.writeHead(Number(answer.code), { "Content-Type": "application/json" }).end(JSON.stringify(answer));
      else if ("to" in answer) res.writeHead(307, { Location: String(answer.to), "Content-Length": 0 }).end();
      else res.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
    });
    other = await listening((_req, res) => {
      askedOther += 1;
      res.writeHead(200).end("{}");
    });
  });
  after(() => {
    for (const server of [hostile, other]) {
      server.close();
      server.closeAllConnections();
    }
  });
  beforeEach(() => {
    askedOther = 0;
    answers = {};
    const config = {
      "current-context": "c",
      clusters: [{ name: "k", cluster: { server: `${urlOf(hostile)}/clusters/root` } }],
      users: [{ name: "u", user: { token: "secret" } }],
      contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
    };
    folder = tree({ config: JSON.stringify(config) });
  });
  afterEach(() => folder[Symbol.dispose]());

  async function ws(...args: string[]): Promise<string> {
    const env = { HOME: folder.path, KUBECONFIG: join(folder.path, "config") };
    await using program = new Program(localNode, [...PLUGIN, ...args], env);
    const { code } = await program.ended;
    return `${code} ${program.lines.join("\n")}${program.stderr.trimEnd()}`;
  }
  function servers(): readonly string[] {
    const config = parse(readFileSync(join(folder.path, "config"), "utf8")) as {
      readonly clusters: readonly { readonly cluster: { readonly server: string } }[];
    };
    return config.clusters.map(({ cluster }) => cluster.server);
  }

  it("follows no redirect to another host, and none in a circle", async () => {
    answers = {
      "/clusters/root:away/apis": { to: `${urlOf(other)}/clusters/root:away/apis` },
      "/clusters/root:no/apis": { to: "/elsewhere" },
      "/clusters/root:a/apis": { to: "/clusters/root:b/apis" },
      "/clusters/root:b/apis": { to: "/clusters/root:a/apis" },
    };
    for (const name of ["away", "no"])
      expect(await ws(name)).to.match(
        /^1 Error: workspace ".*" redirects to http:.*, which is not a workspace of this server/,
      );
    expect(await ws("a")).to.equal('1 Error: workspace "root:a" redirects more than 4 times');
    expect(askedOther).to.equal(0);
    expect(servers()).to.deep.equal([`${urlOf(hostile)}/clusters/root`]);
  });

  it("uses only the path of a home workspace's URL, and stays at the host", async () => {
    answers = {
      [`/clusters/root${WORKSPACES}/~`]: homeAt(`${urlOf(other)}/clusters/home`),
      "/clusters/home/apis": { kind: "APIGroupList", groups: [{ name: "x" }] },
    };
    expect(await ws("~")).to.equal("0 Current workspace is 'home'.");
    expect(askedOther).to.equal(0);
    expect(servers()[1]).to.equal(`${urlOf(hostile)}/clusters/home`);
    answers[`/clusters/root${WORKSPACES}/~`] = homeAt("javascript:alert(1)");
    expect(await ws("~")).to.equal('1 Error: invalid home workspace URL "javascript:alert(1)"');
  });

  it("prints control characters escaped", async () => {
    const kind = { kind: "WorkspaceList", apiVersion: "tenancy.kcp.io/v1alpha1", metadata: {} };
    const mount = { ref: { apiVersion: "v1", kind: "X", name: "x" } };
    answers = {
      [`/clusters/root${WORKSPACES}`]: {
        ...kind,
        items: [
          { metadata: { name: "\u001b[2Jm" }, spec: { mount } },
          { metadata: { name: "a/../../b" }, spec: {} },
        ],
      },
    };
    const said = await ws("tree");
    expect(said).to.include("├── \\u001b[2Jm [m]").and.to.not.include("\u001b");
    const forbidden = { kind: "Status", apiVersion: "v1", code: 403, message: "no\u001b[2J way" };
    answers = { "/clusters/root:m/apis": forbidden, [`/clusters/root${WORKSPACES}/m`]: forbidden };
    expect(await ws("m")).to.equal('1 Error: access to workspace "root:m" denied: no\\u001b[2J way');
    expect(said).to.include('root:a/../../b cannot be listed: invalid cluster "root:a/../../b": use a cluster name');
  });

  it("prints control characters escaped in tree -i, with one line for each workspace", async function () {
    if (!HAS_PTY) this.skip();
    const evil = "evil\u001b[2J\u001b]0;owned\u0007\nnext";
    const workspace = {
      apiVersion: "tenancy.kcp.io/v1alpha1",
      kind: "Workspace",
      metadata: { name: evil },
      spec: { cluster: evil },
      status: { phase: evil, conditions: [{ type: "x", status: "False", message: evil }] },
    };
    const list = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "WorkspaceList", metadata: {}, items: [workspace] };
    answers = { [`/clusters/root${WORKSPACES}`]: list };
    const env = { ...process.env, HOME: folder.path, KUBECONFIG: join(folder.path, "config") };
    await using pty = new Pty({ command: [localNode, ...PLUGIN, "tree", "-i"].join(" "), env });
    const shown = "evil\\u001b[2J\\u001b]0;owned\\u0007 next";
    await pty.shows(`    ▶ ${shown}`);
    pty.type("j");
    await pty.shows(`root:${shown}  ${shown}  cluster:${shown}`.slice(0, 90));
    expect(pty.raw).not.to.include("\u001b[2J").and.not.to.include("\u001b]0;");
    pty.type("q");
    expect(await pty.ended()).to.equal(0);
  });
});
