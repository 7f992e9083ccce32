// The console of real processes: `start`, `front-proxy --console`, and `virtual-workspaces console`, which prints a link.
import { statSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../tools/console.mjs";
import { root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { cli } from "./support/dev.ts";
import { Front } from "./support/front.ts";
import { Start } from "./support/start.ts";

const MARK = { "x-requested-with": "virtual-workspaces-console" };
const WORKSPACES = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces";

interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Sends a request as a browser does. */
async function call(url: string, ca: string, { method = "GET", headers = {}, body }: Call = {}) {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const req = request(url, { method, ca, agent: false, headers }).end(sent);
  const res = await new Promise<import("node:http").IncomingMessage>((resolve, reject) =>
    req.once("response", resolve).once("error", reject),
  );
  let text = "";
  for await (const piece of res.setEncoding("utf8")) text += piece;
  const cookie = (res.headers["set-cookie"] ?? []).map((line) => line.split(";", 1)[0] ?? "");
  return { status: res.statusCode, text, cookie: cookie.filter((pair) => !pair.endsWith("=")).join("; ") };
}

const codeOf = (link: string): string => link.slice(link.indexOf("#code=") + "#code=".length).trim();

async function signIn(url: string, ca: string, body: object) {
  return call(`${url}/console/session`, ca, { method: "POST", headers: MARK, body });
}

const POLLS = join(root, "examples/panels/polls.ts");

/** Returns the names of the panels that the page gets with a token, and reads the module of each. */
async function panelsAt(url: string, ca: string, token: string): Promise<string[]> {
  const { cookie } = await signIn(url, ca, { token });
  const { text } = await call(`${url}/console/panels`, ca, { headers: { cookie, ...MARK } });
  const { panels } = JSON.parse(text) as {
    panels: { readonly name: string; readonly module: string; readonly path?: string }[];
  };
  for (const { name, module, path } of panels) {
    // Also that of a view which another server serves.
    if (name === "polls") expect(path).to.equal("/services/polls/clusters/{cluster}");
    const answer = await call(`${url}/console/${module}`, ca);
    expect([answer.status, /export (const|function) mount/.test(answer.text)], name).to.deep.equal([200, true]);
  }
  return panels.map(({ name }) => name).sort();
}

describe("the console of virtual-workspaces start", function () {
  this.timeout(60_000);
  before(() => ensureConsole());

  it("is reached by the printed link, once, and its session outlives the process", async () => {
    await using first = await Start.ready({ flags: ["--keep-kubeconfig"] });
    const link = first.lines.find((line) => line.startsWith("Console, ")) ?? "";
    expect(link).to.match(
      /^Console, for one sign-in as kcp-admin within an hour: https:\S+\/console\/#code=[\w-]{43}$/,
    );
    const ca = first.text("apiserver.crt");
    expect((await call(`${first.url}/console/`, ca)).status).to.equal(200);
    const { status, cookie } = await signIn(first.url, ca, { code: codeOf(link) });
    expect(status).to.equal(204);
    expect((await signIn(first.url, ca, { code: codeOf(link) })).status).to.equal(401);
    expect((await call(first.url + WORKSPACES, ca, { headers: { cookie, ...MARK } })).status).to.equal(200);
    expect(statSync(first.path(".console-session-key")).mode & 0o777).to.equal(0o600);
    expect(await first.end("SIGTERM")).to.equal(0);
    await using second = await Start.ready({ in: first.folder.path, flags: ["--keep-kubeconfig"] });
    expect((await call(second.url + WORKSPACES, ca, { headers: { cookie, ...MARK } })).status).to.equal(200);
    expect((await call(second.url + WORKSPACES, ca, { headers: { cookie } })).status).to.equal(403);
  });

  it("has no link in the output of a server that other machines reach", async () => {
    await using server = await Start.ready({
      at: [
        "--bind-address=0.0.0.0",
        "--external-hostname=127.0.0.1",
        "--secure-port=0",
        "--experimental-bind-free-port",
      ],
    });
    const line = server.lines.find((one) => one.startsWith("Console")) ?? "";
    expect(line).to.match(/^Console: https:\S+\/console\/ {2}# virtual-workspaces console prints a one-time link$/);
  });

  it("can be left out", async () => {
    await using server = await Start.ready({ flags: ["--console=false"] });
    expect(server.lines.filter((line) => line.startsWith("Console"))).to.deep.equal([]);
    expect((await call(`${server.url}/console/`, server.text("apiserver.crt"))).status).to.be.oneOf([401, 403, 404]);
    const { code, stderr } = await cli("console", `--kubeconfig=${server.path("admin.kubeconfig")}`);
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^virtual-workspaces console: https:\S+ has no console \(it answered 40[34]\): start it with --console$/m,
    );
  });

  it("is reached by a link that the command console prints, as the user of a kubeconfig", async () => {
    await using server = await Start.ready();
    const ca = server.text("apiserver.crt");
    const kubeconfig = `--kubeconfig=${server.path("admin.kubeconfig")}`;
    const { stdout } = await cli("console", kubeconfig, "--context=shard-base");
    expect(stdout).to.match(/^https:\S+\/console\/#code=[\w-]{43}\n$/);
    const { cookie } = await signIn(server.url, ca, { code: codeOf(stdout) });
    const session = await call(`${server.url}/console/session`, ca, { headers: { cookie, ...MARK } });
    expect(JSON.parse(session.text).user.username).to.equal("shard-admin");
    const wrong = await cli("console", kubeconfig, "--token=wrong");
    expect([wrong.code, wrong.stderr]).to.deep.equal([
      1,
      `virtual-workspaces console: ${server.url} does not accept the token: renew the kubeconfig\n`,
    ]);
    const as = await cli("console", kubeconfig, "--as=bob");
    expect(as.stderr).to.equal(
      "virtual-workspaces console: a link cannot impersonate: leave out --as, and use a token of the other user\n",
    );
  });

  it("has the panels of its views, and those of modules that are named", async () => {
    const flags = [`--view=${POLLS}`, "--batteries-included=+spaces,+cluster-proxy"];
    await using views = await Start.ready({ flags });
    const ca = views.text("apiserver.crt");
    const all = ["cluster-proxy", "polls", "space", "space-provider", "spaces"];
    expect(await panelsAt(views.url, ca, views.token("kcp-admin"))).to.deep.equal(all);
    await using named = await Start.ready({ flags: [`--console-panel=${POLLS}`] });
    expect(await panelsAt(named.url, named.text("apiserver.crt"), named.token("kcp-admin"))).to.deep.equal(["polls"]);
  });

  it("rejects modules without a panel, with the file and the remedy", async () => {
    const missing = await cli("start", "--console-panel=missing.js", "--root-directory=/dev/null/none");
    expect(missing.code).to.equal(2);
    expect(missing.stderr).to.include(
      `--console-panel missing.js: the file does not exist in ${process.cwd()}: correct the path`,
    );
    using folder = tree({ "none.mjs": "export default { name: 'none' };\n" });
    const none = join(folder.path, "none.mjs");
    const { code, stderr } = await cli("start", `--console-panel=${none}`, `--root-directory=${folder.path}/root`);
    expect(code).to.equal(1);
    expect(stderr).to.include(`--console-panel ${none}: its default export has no panel. Export a panel by default`);
  });

  it("rejects an invalid key of sessions", async () => {
    const { code, stderr } = await cli(
      "start",
      "--console-session-key-file=/dev/null",
      "--root-directory=/dev/null/none",
    );
    expect(code).to.equal(2);
    expect(stderr).to.include("invalid key in --console-session-key-file /dev/null: write 32 random bytes as base64");
  });
});

describe("the console of virtual-workspaces front-proxy", function () {
  this.timeout(60_000);
  before(() => ensureConsole());

  it("signs in by tokens that the proxy knows, and by those that the shards know", async () => {
    await using front = await Front.ready({ users: "alice-token,alice,alice\n", services: true, own: ["--console"] });
    const { url, ca, server } = front;
    for (const [token, name] of [
      ["alice-token", "alice"],
      [server.token("kcp-admin"), "kcp-admin"],
    ] as const) {
      const { status, cookie } = await signIn(url, ca, { token });
      expect(status, name).to.equal(204);
      const headers = { cookie, ...MARK };
      const session = await call(`${url}/console/session`, ca, { headers });
      expect(JSON.parse(session.text).user.username).to.equal(name);
      expect((await call(url + WORKSPACES, ca, { headers })).status).to.equal(200);
      const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
      const json = { ...headers, "content-type": "application/json" };
      const reviews = `${url}/clusters/root/apis/authentication.k8s.io/v1/selfsubjectreviews`;
      const { text } = await call(reviews, ca, { method: "POST", headers: json, body: review });
      expect(JSON.parse(text).status.userInfo.username).to.equal(name);
    }
    expect((await signIn(url, ca, { token: "wrong" })).status).to.equal(401);
  });

  it("has the panels of cluster proxies and Spaces, which shards serve, and those of modules that are named", async () => {
    const own = ["--console", `--console-panel=${POLLS}`];
    await using front = await Front.ready({ users: "alice-token,alice,alice\n", own });
    const all = ["cluster-proxy", "polls", "space", "space-provider", "spaces"];
    expect(await panelsAt(front.url, front.ca, "alice-token")).to.deep.equal(all);
  });
});
