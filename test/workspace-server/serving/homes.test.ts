// Home workspaces over HTTP: their users, content, path and owner.
import { staticTokens } from "@virtual-workspaces/framework";
import { anonymous } from "@virtual-workspaces/framework/authn";
import { homeClusterName } from "@virtual-workspaces/kcp";
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { type Answer, outcome } from "../../_support/plain.ts";
import { until } from "../../_support/until.ts";
import { startWorkspaces, type Workspaces, type WorkspacesOptions } from "../support/workspaces.ts";

const HOME = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces/~";
const its = (cluster: string) => `/clusters/${cluster}/apis/core.kcp.io/v1alpha1/logicalclusters/cluster`;
const refused = (user: string) => [
  403,
  "Forbidden",
  `workspaces.tenancy.kcp.io "~" is forbidden: User "${user}" cannot create resource "workspaces" in API group "tenancy.kcp.io" at the cluster scope: workspace access not permitted`,
];

/** Repeats the request while the answer is 429. */
async function home(server: Workspaces, user: string): Promise<Answer> {
  let answer = await server.get(HOME, { user });
  await until(async () => {
    answer = await server.get(HOME, { user });
    if (answer.status === 429) {
      expect(outcome(answer)).to.deep.equal([429, "TooManyRequests", "Creating the home workspace"]);
      expect(answer.headers["retry-after"]).to.equal("1");
    }
    return answer.status !== 429;
  });
  return answer;
}

describe("workspaces/~ in root", () => {
  it("is the caller's home: created on the first request, owned by the caller, and available by user name", async () => {
    await using server = await startWorkspaces();
    expect(outcome(await server.get("/clusters/user:alice/api", { user: "alice" })).slice(0, 2)).to.deep.equal([
      404,
      "NotFound",
    ]);
    const first = await server.get(HOME);
    expect(outcome(first)).to.deep.equal([429, "TooManyRequests", "Creating the home workspace"]);
    expect(first.headers["retry-after"]).to.equal("1");
    const cluster = homeClusterName("alice");
    const { status, body } = await home(server, "alice");
    expect(status).to.equal(200);
    expect(Object.keys(body.metadata).sort()).to.deep.equal(["creationTimestamp", "name"]);
    expect([body.kind, body.metadata.name, body.status.phase]).to.deep.equal(["Workspace", "cluster", "Ready"]);
    expect(body.spec).to.deep.equal({ cluster, URL: `${server.url}/clusters/${cluster}` });
    // Only its owner has access.
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m" } };
    const maps = "/clusters/user:alice/api/v1/namespaces/default/configmaps" as const;
    expect((await server.send(`POST ${maps}`, map)).status).to.equal(201);
    expect((await server.get(`/clusters/${cluster}/api/v1/namespaces/default/configmaps/m`)).status).to.equal(200);
    expect((await server.get(`${maps}/m`, { user: "bob" })).status).to.equal(403);
    expect((await server.get(its("user:alice"))).body.metadata.annotations["kcp.io/path"]).to.equal("user:alice");
    // Each user has a different one.
    expect((await home(server, "bob")).body.spec.cluster).to.equal(homeClusterName("bob"));
    expect((await server.get(HOME)).body).to.deep.equal(body);
  });

  it("has child workspaces with paths below it", async () => {
    await using server = await startWorkspaces();
    await home(server, "alice");
    const team = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: "team" } };
    const made = await server.send("POST /clusters/user:alice/apis/tenancy.kcp.io/v1alpha1/workspaces", team);
    expect([made.status, made.body.spec?.type?.name]).to.deep.equal([201, "universal"]);
    await until(async () => (await server.get("/clusters/user:alice:team/api")).status === 200);
    const { annotations } = (await server.get(its("user:alice:team"))).body.metadata;
    expect(annotations["kcp.io/path"]).to.equal("user:alice:team");
  });

  it("appears as a table row for kubectl, and only for get", async () => {
    await using server = await startWorkspaces();
    await home(server, "alice");
    const table = await server.get(HOME, {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" },
    });
    const columns = table.body.columnDefinitions.map(({ name }: { name: string }) => name);
    const cells = table.body.rows[0].cells as string[];
    const shown = Object.fromEntries(columns.map((name: string, at: number) => [name, cells[at]]));
    expect(shown).to.include({
      Name: "cluster",
      Phase: "Ready",
      URL: `${server.url}/clusters/${homeClusterName("alice")}`,
    });
    const path = HOME as `/${string}`;
    expect((await server.send(`DELETE ${path}`, undefined, { user: "root" })).status).to.equal(404);
    expect((await server.send(`DELETE ${path}`)).status).to.equal(403);
    expect((await server.get(`${HOME}/status`)).status).to.equal(403);
    const all = await server.get(HOME.slice(0, -2), { user: "root" });
    expect(all.body.items).to.deep.equal([]);
    expect((await server.get(HOME.replace("root", "user:alice"))).status).to.equal(404);
  });

  it("is forbidden to anonymous users, service accounts and users scoped to another workspace", async () => {
    const scopes = { "authentication.kcp.io/scopes": ["cluster:elsewhere"] };
    const account = "system:serviceaccount:default:default";
    const authentication = [
      staticTokens({
        scoped: { name: "alice", extra: scopes },
        account: { name: account, extra: { "authentication.kcp.io/cluster-name": ["root"] } },
        alice: { name: "alice" },
      }),
      anonymous(),
    ];
    await using server = await startWorkspaces(memoryStore(), { authentication });
    expect(outcome(await server.get(HOME, { user: "account" }))).to.deep.equal(refused(account));
    expect(outcome(await server.get(HOME, { user: "scoped" }))).to.deep.equal(refused("alice"));
    const nobody = await fetch(server.url + HOME);
    const said = (await nobody.json()) as { readonly message: string };
    expect([nobody.status, said.message]).to.deep.equal([403, refused("system:anonymous")[2]]);
    await home(server, "alice");
    // The error does not reveal whether it exists.
    expect(outcome(await server.get(HOME, { user: "scoped" }))).to.deep.equal(refused("alice"));
  });

  it("is limited to the creator groups; existing ones stay", async () => {
    await using store = memoryStore();
    const users = { alice: { name: "alice", groups: ["team-1"] }, bob: { name: "bob" } };
    const start = (options: Partial<WorkspacesOptions>) =>
      startWorkspaces(store, { authentication: [staticTokens(users)], ...options });
    {
      await using server = await start({ homeWorkspaces: { creatorGroups: ["team-1"] } });
      expect((await home(server, "alice")).status).to.equal(200);
      expect(outcome(await server.get(HOME, { user: "bob" }))).to.deep.equal(refused("bob"));
    }
    {
      await using server = await start({ homeWorkspaces: { creatorGroups: [] } });
      expect((await server.get(HOME, { user: "alice" })).status).to.equal(200);
      expect(outcome(await server.get(HOME, { user: "bob" }))).to.deep.equal(refused("bob"));
    }
    await using server = await start({ homeWorkspaces: false });
    expect((await server.get(HOME, { user: "alice" })).status).to.equal(404);
    expect((await server.get(its("user:alice"), { user: "alice" })).status).to.equal(200);
  });
});
