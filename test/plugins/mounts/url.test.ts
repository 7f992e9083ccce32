// Mounts of other API servers: requests through the view, over real sockets.
import { request } from "node:http";
import { expect } from "chai";
import { outcome } from "../../_support/plain.ts";
import { until } from "../../_support/until.ts";
import {
  isReady,
  kubeconfigOf,
  linesOf,
  MERGE,
  type Mounted,
  reasonOf,
  refTo,
  secret,
  startMounted,
  startTarget,
  type Target,
} from "./support/mounted.ts";

describe("a mount of another API server", function () {
  this.timeout(60_000);
  let mounted: Mounted;
  let target: Target;

  /** Returns the answer to an upgrade, and the data on the connection. */
  async function upgrade(
    url: string,
  ): Promise<{ status: number; read(): Promise<string>; end(): void; closed: Promise<void> }> {
    const headers = { authorization: "Bearer alice", connection: "Upgrade", upgrade: "echo" };
    const req = request(url, { agent: false, method: "POST", headers }).end();
    return new Promise((resolve, reject) => {
      req.on("error", reject);
      req.on("response", (res) =>
        resolve({
          status: res.statusCode ?? 0,
          read: async () => "",
          end: () => req.destroy(),
          closed: Promise.resolve(),
        }),
      );
      req.on("upgrade", (_res, socket, head) => {
        if (head.length > 0) socket.unshift(head);
        const closed = new Promise<void>(
          (done) => void socket.on("error", () => undefined).once("close", () => done()),
        );
        const read = (): Promise<string> => new Promise((done) => socket.once("data", (piece) => done(String(piece))));
        resolve({ status: 101, read, end: () => socket.write("over"), closed });
      });
    });
  }

  before(async () => {
    mounted = await startMounted();
    target = await startTarget((req, res) => {
      const { pathname } = new URL(req.url ?? "", "https://there");
      if (pathname === "/api/v1/held")
        return void res.writeHead(200, { "content-type": "application/json" }).write("{}\n");
      if (pathname === "/api/v1/moved")
        return void res.writeHead(302, { location: "https://elsewhere.example/" }).end();
      if (pathname === "/api/v1/cookies")
        return void res
          .writeHead(200, {
            "set-cookie": "a=b",
            "content-security-policy": "default-src *",
            "strict-transport-security": "max-age=1",
            "x-own": "1",
          })
          .end();
      if (pathname === "/api/v1/unknown") return void res.writeHead(401).end();
      res.end(`${req.method} ${req.url}`);
    });
    await mounted.make("Secret", "there", secret({ kubeconfig: kubeconfigOf(target) }));
    await mounted.make("Mount", "there", { spec: { ref: refTo("there") } });
    await mounted.until("there", isReady);
  });

  after(async () => {
    await mounted?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
  });

  beforeEach(() => target.asked.splice(0));

  it("has its URL in both forms of kcp's contract and the proposal, and is Ready once its target answers", async () => {
    const { status } = await mounted.until("there", isReady);
    const url = `${mounted.server.url}/services/mounts/${mounted.team}/there`;
    expect([status.URL, status.url]).to.deep.equal([url, url]);
    expect(status.conditions.map(({ type, status: is }: { type: string; status: string }) => [type, is])).to.deep.equal(
      [
        ["Ready", "True"],
        ["Reachable", "True"],
      ],
    );
  });

  it("forwards path and query unchanged, as the caller, with the Secret's credential", async () => {
    const headers = { "x-remote-user": "mallory", cookie: "a=b" };
    const answer = await mounted.at("there").get("/api/v1/namespaces/a/pods?x=%2F&limit=1", { headers });
    expect([answer.status, answer.text]).to.deep.equal([200, "GET /api/v1/namespaces/a/pods?x=%2F&limit=1"]);
    const lines = linesOf(target.asked[0] as never);
    expect(lines).to.include.members([
      "authorization: Bearer their-token",
      "impersonate-user: alice",
      "impersonate-group: system:authenticated",
      "x-kcp-virtual-resource-hops: 1",
    ]);
    expect(lines.join("\n")).to.not.match(/mallory|Bearer alice|cookie/);
  });

  it("forwards upgrades", async () => {
    const { status, read, end, closed } = await upgrade(
      `${mounted.server.url}/services/mounts/${mounted.team}/there/api/v1/namespaces/a/pods/b/exec`,
    );
    expect([status, await read()]).to.deep.equal([101, "hello "]);
    end();
    expect(await read()).to.equal("over");
    const again = linesOf(target.asked[0] as never);
    expect(again).to.include("impersonate-user: alice");
    target.asked[0]?.socket.destroy();
    await closed;
  });

  it("neither follows nor forwards a redirect, and strips headers for browsers", async () => {
    const at = mounted.at("there");
    const moved = await at.get("/api/v1/moved");
    expect(moved.headers.location).to.equal(undefined);
    expect(outcome(moved)).to.deep.equal([
      502,
      undefined,
      "the target of this mount answers with a redirect (302), which is not followed: configure its final URL",
    ]);
    const { headers } = await at.get("/api/v1/cookies");
    expect([headers["x-own"], headers["set-cookie"], headers["strict-transport-security"]]).to.deep.equal([
      "1",
      undefined,
      undefined,
    ]);
    expect([headers["content-security-policy"], headers["x-content-type-options"]]).to.deep.equal([
      "sandbox",
      "nosniff",
    ]);
  });

  it("hides the target's rejection of the mount's credential, so that callers do not log in again", async () => {
    mounted.errors.length = 0;
    const { status, body } = await mounted.at("there").get("/api/v1/unknown");
    expect([status, body.message]).to.deep.equal([
      503,
      "the target of this mount rejected this server's credentials: renew those that this server sends to it",
    ]);
    expect(mounted.errors.map(String)).to.deep.equal([
      `Error: Mount ${mounted.team}/there: a request has failed: ${target.url} rejected this server's credentials: renew those that this server sends to it`,
    ]);
  });

  it("is available only to users with access to its workspace, and hidden from others", async () => {
    const [there, missing] = [mounted.at("there"), mounted.at("missing")];
    expect((await missing.get("/api")).status).to.equal(404);
    const refused = await Promise.all([there, missing].map((one) => one.get("/api", { user: "bob" })));
    expect(refused.map(({ status, body }) => [status, body.message.replace(/(there|missing)/, "<name>")])).to.satisfy(
      ([one, other]: [unknown[], unknown[]]) => one[0] === 403 && one[1] === other[1],
    );
  });

  it("does not turn rights on this server into rights at the target", async () => {
    expect((await mounted.at("there").get("/api", { user: "root" })).text).to.equal("GET /api");
    const told = linesOf(target.asked[0] as never).filter((line) => line.startsWith("impersonate"));
    expect(told).to.deep.equal(["impersonate-user: shard-admin", "impersonate-group: system:authenticated"]);
  });

  it("answers 503 with its phase, time and reason while it is not Ready", async () => {
    await mounted.make("Mount", "early", { spec: { ref: refTo("late") } });
    const mount = await mounted.until("early", (one) => reasonOf(one) === "SecretNotFound");
    const since = mount.status.conditions[0].lastTransitionTime;
    const answer = await mounted.at("early").get("/api");
    expect([...outcome(answer), answer.headers["retry-after"]]).to.deep.equal([
      503,
      "ServiceUnavailable",
      `the mount "early" is not ready: Unknown since ${since}: Secret "default/late" (spec.ref) not found`,
      "1",
    ]);
    await mounted.make("Secret", "late", secret({ kubeconfig: kubeconfigOf(target) }));
    await mounted.until("early", isReady);
    expect((await mounted.at("early").get("/api")).status).to.equal(200);
  });

  it("uses a new Secret at once, and closes connections with the old one", async () => {
    await mounted.make("Secret", "turning", secret({ kubeconfig: kubeconfigOf(target, { token: "first" }) }));
    await mounted.make("Mount", "turning", { spec: { ref: refTo("turning") } });
    await mounted.until("turning", isReady);
    await using held = await mounted.at("turning").watch("/api/v1/held?watch=true");
    await held.next();
    const path = `/clusters/${mounted.team}/api/v1/namespaces/default/secrets/turning` as const;
    const next = secret({ kubeconfig: kubeconfigOf(target, { token: "second" }) });
    expect((await mounted.server.send(`PATCH ${path}`, next, MERGE)).status).to.equal(200);
    let cut = false;
    await held.rest().catch(() => {
      cut = true;
    });
    expect(cut).to.equal(true);
    await mounted.at("turning").get("/api");
    expect(linesOf(target.asked.at(-1) as never)).to.include("authorization: Bearer second");
  });

  it("is not Ready after a request found its target unavailable, and is again when that is back", async () => {
    const away = await startTarget();
    await mounted.make("Secret", "away", secret({ kubeconfig: kubeconfigOf(away) }));
    await mounted.make("Mount", "away", { spec: { ref: refTo("away") } });
    await mounted.until("away", isReady);
    expect(away.probed, "asked once, and then not for a long while").to.equal(1);
    await away[Symbol.asyncDispose]();
    expect(outcome(await mounted.at("away").get("/api"))).to.deep.equal([
      503,
      "ServiceUnavailable",
      "the target of this mount cannot be reached; try again",
    ]);
    const { status } = await mounted.until("away", (one) => reasonOf(one) === "Unreachable");
    expect([status.phase, status.URL]).to.deep.equal([
      "Connecting",
      `${mounted.server.url}/services/mounts/${mounted.team}/away`,
    ]);
    await using _back = await startTarget(undefined, {
      authority: away.authority,
      port: Number(new URL(away.url).port),
    });
    await mounted.until("away", isReady);
    expect((await mounted.at("away").get("/api")).text).to.equal("GET /api");
  });

  it("is not Ready at once after each failed request, also without a successful one in between", async () => {
    let away = await startTarget();
    const { authority, url } = away;
    await mounted.make("Secret", "often", secret({ kubeconfig: kubeconfigOf(away) }));
    await mounted.make("Mount", "often", { spec: { ref: refTo("often") } });
    for (let times = 0; times < 2; times += 1) {
      await mounted.until("often", isReady);
      await away[Symbol.asyncDispose]();
      expect((await mounted.at("often").get("/api")).status).to.equal(503);
      await mounted.until("often", (one) => reasonOf(one) === "Unreachable");
      away = await startTarget(undefined, { authority, port: Number(new URL(url).port) });
    }
    await mounted.until("often", isReady);
    await away[Symbol.asyncDispose]();
  });

  it("logs a failed check of its target once, until the reason changes", async () => {
    let status = 401;
    await using checked = await startTarget((_, res) => res.writeHead(status).end("{}"));
    const kubeconfig = kubeconfigOf({ ...checked, url: `${checked.url}/below` });
    const lines = (): string[] => mounted.errors.map(String).filter((line) => line.includes("/checked: "));
    const failed = `Error: Mount ${mounted.team}/checked: a check of its target has failed`;
    await mounted.make("Secret", "checked", secret({ kubeconfig }));
    await mounted.make("Mount", "checked", { spec: { ref: refTo("checked") } });
    await mounted.until("checked", (one) => reasonOf(one) === "CredentialRefused");
    await until(() => checked.asked.length >= 3);
    const refused = `${failed}: CredentialRefused: the target rejects the credential of the Secret: renew it`;
    expect(lines()).to.deep.equal([refused]);
    status = 500;
    await mounted.until("checked", (one) => reasonOf(one) === "Failing");
    const failing = `${failed}: Failing: the target answers 500 to /version: check its API server`;
    expect(lines()).to.deep.equal([refused, failing]);
    status = 200;
    await mounted.until("checked", isReady);
    expect(lines()).to.deep.equal([refused, failing]);
  });

  it("counts the mounts in each phase at /metrics, without their names", async () => {
    const counts = async (): Promise<Record<string, number>> => {
      const { text } = await mounted.server.get("/metrics", { user: "root" });
      expect(text).not.to.match(/"(there|nowhere)"/);
      const lines = [...text.matchAll(/^virtual_workspaces_mounts{phase="(\w+)"} (\d+)$/gm)];
      return Object.fromEntries(lines.map(([, phase, count]) => [phase, Number(count)]));
    };
    const before = await counts();
    expect(Object.keys(before)).to.deep.equal(["Ready", "Connecting", "Unknown", "Initializing"]);
    expect(before["Ready"]).to.be.greaterThan(0);
    await mounted.make("Mount", "nowhere", { spec: { ref: refTo("nowhere") } });
    await mounted.until("nowhere", (one) => reasonOf(one) === "SecretNotFound");
    // The informer of the view may see the status later than a client.
    await until(async () => (await counts())["Unknown"] === (before["Unknown"] ?? 0) + 1);
  });

  it("is deleted with the Mount, which closes open connections", async () => {
    await mounted.make("Mount", "short", { spec: { ref: refTo("there") } });
    await mounted.until("short", isReady);
    await using held = await mounted.at("short").watch("/api/v1/held?watch=true");
    await held.next();
    const path = `/clusters/${mounted.team}/apis/proxy.kcp.io/v1alpha1/mounts/short` as const;
    expect((await mounted.server.send(`DELETE ${path}`, undefined, { user: "root" })).status).to.equal(200);
    let cut = false;
    await held.rest().catch(() => {
      cut = true;
    });
    expect(cut).to.equal(true);
    expect((await mounted.at("short").get("/api")).status).to.equal(404);
  });
});
