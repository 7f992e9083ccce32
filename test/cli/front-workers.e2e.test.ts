// A front proxy of several processes: clients that reach another worker with each connection see one server.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ensureConsole } from "../../tools/console.mjs";
import { tree } from "../_setup/tree.ts";
import { until } from "../_support/until.ts";
import { labelOf, openWatch } from "../_support/web-socket.ts";
import { cli } from "./support/dev.ts";
import { Front } from "./support/front.ts";
import { type Answered, childrenOf, openStream, type Sent, sendAlone } from "./support/workers.ts";

const WORKSPACES = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces";
const MARK = { "x-requested-with": "virtual-workspaces-console" };
const USERS = 'admin-token,admin,1,"system:kcp:admin"\nalice-token,alice,2\n';
const POLICY =
  "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{ level: Metadata }]\n";

describe("virtual-workspaces front-proxy --workers", function () {
  this.timeout(120_000);
  let front: Front;
  const files = tree({ "policy.yaml": POLICY });
  const log = join(files.path, "audit.log");

  before(async () => {
    await ensureConsole();
    front = await Front.ready({
      users: USERS,
      own: [
        "--workers=2",
        "--console",
        "--proxy-addresses=10.0.0.0/8", // failed logins from this machine count
        `--audit-log-path=${log}`,
        `--audit-policy-file=${join(files.path, "policy.yaml")}`,
      ],
    });
  });

  after(async () => {
    await front?.[Symbol.asyncDispose]();
    files[Symbol.dispose]();
  });

  const send = (path: string, sent: Sent = {}): Promise<Answered> =>
    sendAlone(front.url + path, front.ca, {
      ...sent,
      headers: { authorization: "Bearer admin-token", ...sent.headers },
    });
  /** Sends a request twice to each worker, which get connections in turn. */
  const everywhere = (path: string, sent: Sent = {}): Promise<readonly Answered[]> =>
    Promise.all([1, 2, 3, 4].map(() => send(path, sent)));
  const statuses = async (path: string): Promise<readonly number[]> =>
    (await everywhere(path)).map(({ status }) => status);
  const make = async (name: string): Promise<void> => {
    const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name } };
    expect((await send(WORKSPACES, { method: "POST", body: workspace })).status).to.equal(201);
    await until(async () => (await statuses(`/clusters/root:${name}/api`)).every((status) => status === 200));
  };
  /** Returns the value of a sample of /metrics. */
  const metric = async (sample: RegExp): Promise<number> =>
    Number(new RegExp(`^${sample.source} (\\S+)$`, "m").exec((await send("/metrics")).text)?.[1] ?? Number.NaN);

  it("serves with several processes at one port", async () => {
    expect(childrenOf(front.pid)).to.have.length(2);
    expect(await statuses(WORKSPACES)).to.deep.equal([200, 200, 200, 200]);
    expect(await statuses("/readyz")).to.deep.equal([200, 200, 200, 200]);
    expect(await statuses("/livez")).to.deep.equal([200, 200, 200, 200]);
    expect(await statuses("/clusters/root:none/api")).to.deep.equal([403, 403, 403, 403]);
  });

  it("bounds the memory of each process", function () {
    if (process.platform !== "linux") this.skip();
    for (const pid of [front.pid, ...childrenOf(front.pid)])
      expect(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")).to.include("--max-semi-space-size=8");
  });

  it("forgets a deleted workspace at all workers at once", async () => {
    await make("short");
    const path = "/clusters/root:short/api";
    expect((await send(`${WORKSPACES}/short`, { method: "DELETE" })).status).to.equal(200);
    await until(async () => (await send(path)).status === 403);
    expect(await statuses(path)).to.deep.equal([403, 403, 403, 403]);
    await make("short");
  });

  it("adds up the metrics of its processes, also of a worker that has ended", async () => {
    const total = /apiserver_request_total\{virtual_workspace="clusters",verb="LIST",.*code="200"\}/;
    const before = (await metric(total)) || 0;
    for (let turn = 0; turn < 3; turn++) await everywhere(WORKSPACES);
    expect((await metric(total)) - before).to.equal(12);
    expect(await metric(/virtual_workspaces_workers/)).to.equal(2);
    expect(await metric(/kcp_indexed_logicalclusters\{shard="root"\}/)).to.be.above(0);
    expect(await metric(/process_start_time_seconds/)).to.be.closeTo(Date.now() / 1000, 100);
    const [victim = 0] = childrenOf(front.pid);
    const restarts = await metric(/virtual_workspaces_worker_restarts_total/);
    process.kill(victim, "SIGKILL");
    // A scrape of the dying worker fails.
    const restarted = () => metric(/virtual_workspaces_worker_restarts_total/).catch(() => 0);
    await until(async () => (await restarted()) === restarts + 1);
    expect((await metric(total)) - before).to.equal(12);
  });

  it("replaces a worker that ends, while others serve", async () => {
    await until(() => childrenOf(front.pid).length === 2);
    const [victim = 0, other] = childrenOf(front.pid);
    let failed = 0;
    let ended = false;
    const asking = (async () => {
      for (let count = 0; !ended || count < 20; count++)
        await send(WORKSPACES).then(
          ({ status }) => expect(status).to.equal(200),
          () => {
            failed += 1; // a connection that the worker had
          },
        );
    })();
    process.kill(victim, "SIGKILL");
    await until(() => {
      const now = childrenOf(front.pid);
      return now.length === 2 && !now.includes(victim) && now.includes(other ?? 0);
    });
    ended = true;
    await asking;
    expect(failed).to.be.at.most(2);
    expect(front.stderr).to.include("worker ended, restarting it");
    await until(async () => (await metric(/virtual_workspaces_workers/)) === 2);
  });

  it("ignores signals to a worker: its primary process decides", async () => {
    const workers = childrenOf(front.pid);
    for (const worker of workers) process.kill(worker, "SIGTERM");
    expect(await statuses(WORKSPACES)).to.deep.equal([200, 200, 200, 200]);
    expect(childrenOf(front.pid)).to.deep.equal(workers);
  });

  it("forwards upgrades at every worker", async () => {
    const path = "/clusters/root/api/v1/namespaces/default/configmaps?watch=1&fieldSelector=metadata.name%3Dlive";
    const headers = { authorization: "Bearer admin-token" };
    const sockets = await Promise.all([1, 2].map(() => openWatch(front.url, path, { ca: front.ca, headers })));
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "live" } };
    await send("/clusters/root/api/v1/namespaces/default/configmaps", { method: "POST", body: map });
    for (const socket of sockets) {
      expect(labelOf(await socket.next())).to.equal("ADDED live");
      socket[Symbol.dispose]();
    }
  });

  it("knows sessions and links of the console at every worker", async () => {
    const session = "/console/session";
    const links = await send("/console/codes", { method: "POST" });
    const { code } = JSON.parse(links.text) as { readonly code: string };
    const signIns = await Promise.all(
      [1, 2, 3, 4].map(() =>
        sendAlone(front.url + session, front.ca, { method: "POST", headers: MARK, body: { code } }),
      ),
    );
    expect(signIns.map(({ status }) => status).sort()).to.deep.equal([204, 401, 401, 401]);
    const { cookie = "" } = signIns.find(({ status }) => status === 204) ?? {};
    const asUser = async (): Promise<readonly number[]> =>
      Promise.all(
        [1, 2, 3, 4].map(async () => {
          const { status } = await sendAlone(front.url + session, front.ca, { headers: { ...MARK, cookie } });
          return status;
        }),
      );
    expect(await asUser()).to.deep.equal([200, 200, 200, 200]);
    await sendAlone(front.url + session, front.ca, { method: "DELETE", headers: { ...MARK, cookie } });
    await until(async () => (await asUser()).every((status) => status === 401));
  });

  it("counts failed logins of an address at all workers together", async () => {
    const guess = (): Promise<number> =>
      send(WORKSPACES, { headers: { authorization: "Bearer guessed" } }).then(({ status }) => status);
    const began = performance.now();
    const answers: number[] = [];
    while (!answers.includes(429)) answers.push(...(await Promise.all(Array.from({ length: 10 }, guess))));
    // One failure is forgiven each second. If each worker counted its own, there would be nearly 100 for each.
    const forgiven = (performance.now() - began) / 1000;
    expect(answers.filter((status) => status === 401).length).to.be.within(90, 120 + forgiven);
  });

  it("writes one audit log with whole lines, ends watches cleanly, and exits with all its workers on SIGTERM", async () => {
    const children = childrenOf(front.pid);
    const watches = await Promise.all([1, 2].map(() => openStream(`${front.url}${WORKSPACES}?watch=1`, front.ca)));
    front.signal("SIGTERM");
    for (const watch of watches) expect(await watch.complete).to.equal(true);
    expect(await front.ended).to.deep.equal({ code: 0, signal: null });
    for (const child of children) expect(() => process.kill(child, 0)).to.throw("ESRCH");
    const events = readFileSync(log, "utf8").trimEnd().split("\n");
    const parsed = events.map((line) => JSON.parse(line) as { readonly stage: string; readonly requestURI: string });
    expect(parsed.filter(({ requestURI }) => requestURI === WORKSPACES).length).to.be.above(100);
  });
});

describe("a worker of virtual-workspaces front-proxy", function () {
  this.timeout(60_000);

  it("does not serve without a primary process", async () => {
    const { code, stderr } = await cli("front-proxy:worker");
    expect([code, stderr]).to.deep.equal([
      1,
      "virtual-workspaces: a worker is started by its primary process: use --workers\n",
    ]);
  });

  it("ends with its primary process", async () => {
    await using front = await Front.ready({ users: USERS, own: ["--workers=2"] });
    const children = childrenOf(front.pid);
    expect(children).to.have.length(2);
    front.signal("SIGKILL");
    await until(() => children.every(hasEnded));
  });
});

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
