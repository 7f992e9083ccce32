// Authentication by the issuers of a workspace's type. At /clusters the shards know the tokens; for other upstreams the front
// proxy authenticates them.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createConsole } from "@virtual-workspaces/console";
import { expect } from "chai";
import { TestIssuer } from "../_support/issuer.ts";
import { until } from "../_support/until.ts";
import { Stores, untilAt } from "../workspace-server/shards/support.ts";
import { bind, makeWorkspace } from "../workspace-server/support/logical-clusters.ts";
import { configure, makeType, mapped, removeConfiguration } from "../workspace-server/support/logins.ts";
import { CLUSTERS, type Front, INDEXES, startFront, startFrontWith, startShards } from "./support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

describe("issuers of a workspace's type, behind a front proxy", function () {
  this.timeout(30_000);

  it("authenticate their users there, and nowhere else", async () => {
    await using stack = new AsyncDisposableStack();
    const stores = stack.use(new Stores());
    const issuer = stack.use(await TestIssuer.start());
    const shards = stack.use(await startShards(stores, { workspaceAuthentication: {} }));
    const front = stack.use(await startFront(shards.url));
    await configure(front, "a", [mapped(issuer, "a:")]);
    await makeType(front, "of-team", ["a"]);
    const cluster = await makeWorkspace(front, "team", "of-team");
    await makeWorkspace(front, "other");
    const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "a:jane" };
    for (const role of ["cluster-admin", "system:kcp:workspace:access"])
      await bind(front, cluster, { name: `jane-${role}`, role, subject });
    const token = issuer.token();
    await untilAt(front, { path: `/clusters/root:team${MAPS}`, user: token }, ({ status }) => status === 200);
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const { body } = await front.send(`POST /clusters/root:team${path}`, review, { user: token });
    expect(body.status.userInfo).to.deep.include({
      username: "a:jane",
      extra: {
        "authentication.kcp.io/scopes": [`cluster:${cluster}`],
        "authentication.kcp.io/cluster-name": [cluster],
      },
    });
    for (const elsewhere of ["root", "root:other"])
      expect((await front.get(`/clusters/${elsewhere}${MAPS}`, { user: token })).status).to.equal(401);
  });

  it("sign in to the console, in their workspace only", async () => {
    await using stack = new AsyncDisposableStack();
    const stores = stack.use(new Stores());
    const issuer = stack.use(await TestIssuer.start());
    const shards = stack.use(await startShards(stores, { workspaceAuthentication: {} }));
    const { pages } = createConsole();
    const front = stack.use(await startFront(shards.url, { workspaceAuthentication: {}, pages }));
    const without = stack.use(await startFront(shards.url, { pages: createConsole().pages }));
    await configure(front, "a", [mapped(issuer, "a:")]);
    await makeType(front, "of-team", ["a"]);
    const cluster = await makeWorkspace(front, "team", "of-team");
    const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "a:jane" };
    for (const role of ["cluster-admin", "system:kcp:workspace:access"])
      await bind(front, cluster, { name: `jane-${role}`, role, subject });
    const token = issuer.token();
    await untilAt(front, { path: `/clusters/root:team${MAPS}`, user: token }, ({ status }) => status === 200);
    const mark = { "x-requested-with": "virtual-workspaces-console" };
    const signIn = (at: Front, body: object) =>
      fetch(`${at.url}/console/session`, { method: "POST", headers: mark, body: JSON.stringify(body) });
    const statuses = async (at: Front, bodies: readonly object[]) =>
      Promise.all(bodies.map(async (body) => (await signIn(at, body)).status));
    // The proxy forwards callers that it does not know, but takes none of them for a user.
    expect(
      await statuses(front, [{ token }, { token, workspace: "root" }, { token: "guessed", workspace: "root:team" }]),
    ).to.deep.equal([401, 401, 401]);
    expect(await statuses(without, [{ token, workspace: "root:team" }])).to.deep.equal([401]);
    // The shards may know the type before the proxy does.
    let answer = await signIn(front, { token, workspace: "root:team" });
    await until(async () => {
      if (answer.status === 401) answer = await signIn(front, { token, workspace: "root:team" });
      return answer.status !== 401;
    });
    expect(answer.status).to.equal(204);
    const cookie = answer.headers
      .getSetCookie()
      .flatMap((line) => line.split(";", 1)[0] ?? [])
      .join("; ");
    const call = (path: string) => fetch(front.url + path, { headers: { ...mark, cookie } });
    const session = (await (await call("/console/session")).json()) as {
      user: { username: string };
      workspace: string;
    };
    expect([session.user.username, session.workspace]).to.deep.equal(["a:jane", "root:team"]);
    expect((await call(`/clusters/root:team${MAPS}`)).status).to.equal(200);
    expect((await call(`/clusters/root${MAPS}`)).status).to.equal(401);
  });
});

for (const index of INDEXES)
  describe(`issuers of a workspace's type, at a path with {cluster}, with ${index}`, function () {
    this.timeout(30_000);
    const stack = new AsyncDisposableStack();
    const behind = createServer((req, res) => {
      const told = Object.entries(req.headers).filter(([name]) => /^(x-remote|authorization)/.test(name));
      res.setHeader("content-type", "application/json").end(JSON.stringify(Object.fromEntries(told)));
    });
    let issuer: TestIssuer;
    let front: Front;
    let without: Front;
    let cluster: string;

    before(async () => {
      await new Promise<void>((resolve) => behind.listen(0, "127.0.0.1", resolve));
      stack.defer(() => void behind.close());
      const backends = [`http://127.0.0.1:${(behind.address() as AddressInfo).port}`];
      issuer = stack.use(await TestIssuer.start());
      const shards = stack.use(await startShards(stack.use(new Stores())));
      const mapping = [CLUSTERS, ...["/e2e/{x}/{cluster}", "/other/{x}"].map((path) => ({ path, backends }))];
      front = stack.use(await startFrontWith(index, shards.url, { mapping, workspaceAuthentication: {} }));
      without = stack.use(await startFront(shards.url, { mapping }));
      const prefixed = mapped(issuer, "a:");
      const bare = issuer.config({
        claimMappings: { username: { claim: "name", prefix: "" }, groups: { claim: "groups", prefix: "" } },
      });
      await configure(front, "a", [prefixed]);
      await makeType(front, "of-team", ["a"]);
      await configure(front, "bare", [bare]);
      await makeType(front, "of-bare", ["bare"]);
      cluster = await makeWorkspace(front, "team", "of-team");
      await makeWorkspace(front, "bare", "of-bare");
      await makeWorkspace(front, "other");
      await untilAt(front, { path: "/e2e/w/root:team/x", user: issuer.token() }, ({ body }) => "x-remote-user" in body);
      await untilAt(front, { path: "/e2e/w/root:bare/x", user: bareToken("x") }, ({ body }) => "x-remote-user" in body);
    });
    after(() => stack.disposeAsync());

    const bareToken = (name: string): string => issuer.token({ name, groups: ["system:masters", "team"] });
    const told = async (path: string, token: string, at: Front = front) => {
      const headers = { "x-remote-user": "root", "x-remote-group": "system:masters" };
      return (await at.get(path, { user: token, headers })).body;
    };

    it("authenticate their users there by path and cluster name, scoped to the workspace", async () => {
      const scopes = "x-remote-extra-authentication.kcp.io%2f";
      for (const said of ["root:team", cluster]) {
        const user = await told(`/e2e/w/${said}/api/v1?x=y`, issuer.token());
        expect(user).to.include({
          "x-remote-user": "a:jane",
          [`${scopes}scopes`]: `cluster:${cluster}`,
          [`${scopes}cluster-name`]: cluster,
        });
        expect(user["x-remote-group"].split(", ")).to.include("system:authenticated").and.not.include("system:masters");
      }
    });

    it("are trusted nowhere else, nor without the option: the proxy forwards the token", async () => {
      const token = issuer.token();
      const stranger = { authorization: `Bearer ${token}` };
      for (const path of [
        ...["/e2e/w/root:other/x", "/e2e/w/root/x", "/e2e/w/*/x", "/e2e/w/root:nowhere/x", "/e2e/w/root:team:below/x"],
        ...["/e2e/w/root%3Ateam/x", "/e2e/root:team/root:other", "/other/root:team/x"],
      ])
        expect(await told(path, token), path).to.deep.equal(stranger);
      expect(await told("/e2e/w/root:team/x", token, without)).to.deep.equal(stranger);
    });

    it("cannot make a caller a user or group of the system, or one that the proxy knows", async () => {
      const bare = await told("/e2e/w/root:bare/x", bareToken("jane"));
      expect([bare["x-remote-user"], bare["x-remote-group"]]).to.deep.equal(["jane", "team, system:authenticated"]);
      const system = bareToken("system:admin");
      expect(await told("/e2e/w/root:bare/x", system)).to.deep.equal({ authorization: `Bearer ${system}` });
      expect(await told("/e2e/w/root:team/x", "alice")).to.deep.equal({
        "x-remote-user": "alice",
        "x-remote-group": "system:authenticated",
      });
    });

    it("take effect when they change", async () => {
      const token = issuer.token();
      await removeConfiguration(front, "a");
      await untilAt(front, { path: "/e2e/w/root:team/x", user: token }, ({ body }) => "authorization" in body);
      await configure(front, "a", [mapped(issuer, "b:")]);
      await untilAt(
        front,
        { path: "/e2e/w/root:team/x", user: token },
        ({ body }) => body["x-remote-user"] === "b:jane",
      );
    });

    it("need the shards", () =>
      startFront(undefined, { workspaceAuthentication: {} }).then(
        () => expect.fail(),
        ({ message }) => expect(message).to.contain("workspaceAuthentication needs the shards of /clusters/"),
      ));
  });
