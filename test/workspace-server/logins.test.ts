// Why: the creator of a workspace type chooses issuers of tokens for its workspaces. Their users must get in there, at once
// and nowhere else, and must not become more than users of that workspace.
import { authenticated, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { TestIssuer } from "../_support/issuer.ts";
import { bind, makeWorkspace } from "./support/logical-clusters.ts";
import { configure, makeType, mapped, removeConfiguration } from "./support/logins.ts";
import { startWorkspaces, type Workspaces } from "./support/workspaces.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const AUTHN = "/apis/authentication.k8s.io/v1";
const WORKSPACES = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces";
const root = { user: "root" };

const hello = defineVirtualWorkspace({
  name: "hello",
  path: "/clusters/:cluster",
  authorize: authenticated(),
  handle: (_req, res) => void res.end("hello"),
});

describe("issuers of a workspace type", function () {
  this.timeout(30_000);
  let server: Workspaces;
  let a: TestIssuer;
  let b: TestIssuer;
  const clusters = { "team-a": "", "team-b": "", "team-c": "" };
  const teams = Object.keys(clusters) as (keyof typeof clusters)[];
  const configureAll = async (): Promise<void> => {
    await configure(server, "a", [mapped(a, "a:")]);
    await configure(server, "b", [mapped(b, "b:")]);
    await makeType(server, "of-team-a", ["a"]);
    await makeType(server, "of-team-b", ["b"]);
    await makeType(server, "of-team-c", ["a", "b"]);
  };

  before(async () => {
    server = await startWorkspaces(undefined, { virtualWorkspaces: [hello], workspaceAuthentication: {} });
    a = await TestIssuer.start();
    b = await TestIssuer.start();
    await configureAll();
    for (const team of teams) {
      clusters[team] = await makeWorkspace(server, team, `of-${team}`);
      for (const user of ["a:jane", "b:jane", "jane"]) {
        const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user };
        for (const role of ["cluster-admin", "system:kcp:workspace:access"])
          await bind(server, clusters[team], { name: `${user}-${role}`, role, subject });
      }
    }
  });

  after(async () => {
    await server[Symbol.asyncDispose]();
    await Promise.all([a, b].map((issuer) => issuer[Symbol.asyncDispose]()));
  });

  const at = async (path: string, user: string): Promise<number> => (await server.get(path, { user })).status;
  const inTeam = (team: string, user: string): Promise<number> => at(`/clusters/root:${team}${MAPS}`, user);
  const inTeams = async (user: string): Promise<number[]> =>
    Promise.all(teams.flatMap((team) => [inTeam(team, user), at(`/clusters/${clusters[team]}${MAPS}`, user)]));
  const selfIn = async (team: string, user: string) => {
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const { body } = await server.send(`POST /clusters/root:${team}${AUTHN}/selfsubjectreviews`, review, { user });
    return body.status?.userInfo ?? body.code;
  };
  const review = async (place: string, token: string, audiences?: readonly string[]) => {
    const asked = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token, audiences } };
    return (await server.send(`POST /clusters/${place}${AUTHN}/tokenreviews`, asked, root)).body.status;
  };
  const confined = (team: keyof typeof clusters) => ({
    "authentication.kcp.io/scopes": [`cluster:${clusters[team]}`],
    "authentication.kcp.io/cluster-name": [clusters[team]],
  });

  it("let their users in by name and path, and not in other types' workspaces, where they have the same rights", async () => {
    expect(await inTeams(a.token())).to.deep.equal([200, 200, 401, 401, 200, 200]);
    expect(await inTeams(b.token())).to.deep.equal([401, 401, 200, 200, 200, 200]);
    expect(await inTeams(a.token({ sub: "joe" }))).to.deep.equal([403, 403, 401, 401, 403, 403]);
    expect(await inTeams("root")).to.deep.equal([200, 200, 200, 200, 200, 200]);
    expect(await inTeams("alice")).to.deep.equal([403, 403, 403, 403, 403, 403]);
    expect(await inTeams("nobody")).to.deep.equal([401, 401, 401, 401, 401, 401]);
  });

  it("give no access to other workspaces, the wildcard, views or the server's own paths", async () => {
    const token = a.token();
    await server.get(`${WORKSPACES}/~`, { user: "alice" });
    for (const path of [
      `/clusters/root${MAPS}`,
      `/clusters/*${MAPS}`,
      `/clusters/user:alice${MAPS}`,
      `/clusters/system:admin${MAPS}`,
      `/clusters/root:team-a:more${MAPS}`,
      `/clusters/root:none${MAPS}`,
      `/services/hello/clusters/${clusters["team-a"]}/x`,
      "/services/workspaces/",
      "/api",
      "/metrics",
    ])
      expect(await at(path, token), path).to.equal(401);
  });

  it("give no access to mounted workspaces, whatever their target", async () => {
    const ref = { apiVersion: "example.dev/v1", kind: "Link", name: "x" };
    const URL = `${server.url}/clusters/root:team-a`;
    const link = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: "link" } };
    const made = await server.send(`POST ${WORKSPACES}`, { ...link, spec: { mount: { ref }, URL } }, root);
    expect(made.status, made.text).to.equal(201);
    const status = {
      phase: "Ready",
      conditions: [{ type: "WorkspaceMountReady", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
    };
    const ready = { ...made.body, status };
    const told = await server.send(`PUT ${WORKSPACES}/link/status`, ready, root);
    expect(told.status, told.text).to.equal(200);
    expect(await at(`/clusters/root:link${MAPS}`, "root")).to.equal(200);
    for (const path of ["root:link", "root:link:team-a"])
      expect(await at(`/clusters/${path}${MAPS}`, a.token()), path).to.equal(401);
    expect((await server.send(`DELETE ${WORKSPACES}/link`, undefined, root)).status).to.equal(200);
  });

  it("determine the user, and the server adds the scope", async () => {
    expect(await selfIn("team-c", b.token({ groups: ["dev"] }))).to.deep.equal({
      username: "b:jane",
      groups: ["b:dev", "system:authenticated"],
      extra: confined("team-c"),
    });
  });

  it("are known to TokenReviews in that workspace only", async () => {
    const token = a.token();
    const audiences = ["https://kcp.default.svc"];
    for (const place of ["root:team-a", clusters["team-a"]])
      expect(await review(place, token, audiences)).to.deep.equal({
        authenticated: true,
        audiences,
        user: { username: "a:jane", groups: ["system:authenticated"], extra: confined("team-a") },
      });
    for (const place of ["root:team-b", "root"])
      expect(await review(place, token)).to.deep.equal({ user: {}, error: "invalid bearer token" });
    expect(await review("root:team-a", token, ["vault"])).to.deep.equal({ user: {}, error: "invalid bearer token" });
  });

  it("give users no rights in another workspace, even with an equal user name", async () => {
    const mayIn = async (place: string, extra: object): Promise<boolean> => {
      const resourceAttributes = { verb: "list", resource: "configmaps", namespace: "default" };
      const asked = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: { user: "a:jane", groups: ["system:authenticated"], extra, resourceAttributes },
      };
      const path = `/clusters/${place}/apis/authorization.k8s.io/v1/subjectaccessreviews` as const;
      return (await server.send(`POST ${path}`, asked, root)).body.status.allowed;
    };
    expect(await mayIn("root:team-a", confined("team-a"))).to.equal(true);
    expect(await mayIn("root:team-b", {})).to.equal(true);
    expect(await mayIn("root:team-b", confined("team-a"))).to.equal(false);
  });

  it("cannot name system users, and impersonation keeps the scope", async () => {
    await configure(server, "a", [mapped(a, "")]);
    for (const sub of ["system:admin", "system:serviceaccount:default:default", "system:apiserver"])
      expect(await inTeam("team-a", a.token({ sub })), sub).to.equal(401);
    const groups = ["system:masters", "system:kcp:admin", "system:kcp:logical-cluster-admin"];
    for (const sub of ["shard-admin", "kcp-admin", "joe"])
      expect(await inTeam("team-a", a.token({ sub, groups })), sub).to.equal(403);
    expect(await selfIn("team-a", a.token({ groups }))).to.deep.equal({
      username: "jane",
      groups: ["system:authenticated"],
      extra: confined("team-a"),
    });
    const as = (headers: Record<string, string>) =>
      server.get(`/clusters/root:team-a${MAPS}`, { user: a.token(), headers });
    expect((await as({ "impersonate-user": "a:jane" })).status).to.equal(200);
    expect((await as({ "impersonate-user": "x", "impersonate-group": "system:masters" })).status).to.equal(403);
    await configureAll();
  });

  it("follow changes, removal and restoration of their configuration at once", async () => {
    const token = a.token();
    const steps: readonly (readonly [() => Promise<unknown>, number])[] = [
      [() => Promise.resolve(), 200],
      [() => configure(server, "a", [mapped(a, "a:", { issuer: { url: a.url, audiences: ["other"] } })]), 401],
      [configureAll, 200],
      [() => configure(server, "a", [mapped(a, "else:")]), 403],
      [() => configure(server, "a", []), 401],
      [configureAll, 200],
      [() => makeType(server, "of-team-a", ["b"]), 401],
      [() => makeType(server, "of-team-a", ["none", "a"]), 200],
      [() => removeConfiguration(server, "a"), 401],
      [configureAll, 200],
    ];
    for (const [at, [step, code]] of steps.entries()) {
      await step();
      expect(await inTeam("team-a", token), `step ${at}`).to.equal(code);
    }
  });

  it("affect only their own users when they are unavailable or invalid", async () => {
    await using away = await TestIssuer.start();
    away.answer = () => "hang";
    await configure(server, "away", [mapped(away, "away:")]);
    await configure(server, "wrong", [{ ...mapped(b, "wrong:"), issuer: { url: b.url, audiences: [] } }]);
    await makeType(server, "of-team-c", ["away", "wrong", "a", "b"]);
    const waits = inTeam("team-c", away.token());
    for (const user of [a.token(), b.token(), "root"]) expect(await inTeam("team-c", user)).to.equal(200);
    await away.down();
    expect(await waits).to.equal(401);
    expectFault(/cannot fetch keys of token issuer/);
    expectFault(/token issuers not usable.*Required value: at least one jwt\[0\].issuer.audiences is required/);
    await configureAll();
  });

  it("are ignored by a server without the option", async () => {
    await using other = await startWorkspaces();
    await configure(other, "a", [mapped(a, "a:")]);
    await makeType(other, "of-team-a", ["a"]);
    await makeWorkspace(other, "team-a", "of-team-a");
    const asked = a.paths.length;
    expect((await other.get(`/clusters/root:team-a${MAPS}`, { user: a.token() })).status).to.equal(401);
    expect(a.paths.length).to.equal(asked);
  });
});
