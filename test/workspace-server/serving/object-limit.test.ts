// The maximum number of objects in a workspace.
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { outcome } from "../../_support/plain.ts";
import { until } from "../../_support/until.ts";
import { makeAdmin, makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const LIMIT = "core.kcp.io/max-total-objects";

function make(server: Workspaces, cluster: string, name: string) {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
  return server.send(`POST /clusters/${cluster}${MAPS}`, map, { user: "admin" });
}

interface Limit {
  readonly limit: string | null;
  readonly user?: string;
}

/** Sets the limit of a workspace as a user. */
function setLimit(server: Workspaces, cluster: string, { limit, user = "root" }: Limit) {
  const about = { metadata: { annotations: { [LIMIT]: limit } } };
  return server.send(`PATCH /clusters/${cluster}/apis/core.kcp.io/v1alpha1/logicalclusters/cluster`, about, {
    user,
    headers: { "content-type": "application/merge-patch+json" },
  });
}

/** Returns the number of objects after the server has created its own: as shown in the error. */
async function countIn(server: Workspaces, cluster: string): Promise<number> {
  const accounts = `/clusters/${cluster}/api/v1/serviceaccounts`;
  await until(async () => (await server.get(accounts, { user: "root" })).body.items.length === 2);
  await until(
    async () => (await server.get(`/clusters/${cluster}/api/v1/configmaps`, { user: "root" })).body.items.length === 2,
  );
  expect((await setLimit(server, cluster, { limit: "1" })).status).to.equal(200);
  let count = 0;
  await until(async () => {
    const { status, body } = await make(server, cluster, "x");
    count = Number(/\((\d+)\/1 objects\)/.exec(body.message)?.[1] ?? 0);
    if (status === 201) await server.send(`DELETE /clusters/${cluster}${MAPS}/x`, undefined, { user: "admin" });
    return status === 403;
  });
  return count;
}

describe("an object limit of a workspace", () => {
  it("counts concurrent creations of all kinds, but not deletions, updates and events", async () => {
    await using server = await startWorkspaces();
    const cluster = await makeWorkspace(server, "org");
    const count = await countIn(server, cluster);
    expect((await setLimit(server, cluster, { limit: String(count + 5) })).status).to.equal(200);
    await until(async () => (await make(server, cluster, "m-0")).status === 201);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => make(server, cluster, `m-${at + 1}`)));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(4);
    const refused = answers.find(({ status }) => status === 403);
    expect(refused && outcome(refused)[2]).to.match(
      new RegExp(
        `^configmaps "m-\\d+" is forbidden: logical cluster "${cluster}" has reached its total object count limit \\(${count + 5}/${count + 5} objects\\); delete objects to free up capacity$`,
      ),
    );
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
    const secrets = `/clusters/${cluster}/api/v1/namespaces/default/secrets` as const;
    expect((await server.send(`POST ${secrets}`, secret, { user: "admin" })).status).to.equal(403);
    const event = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "e" },
      involvedObject: { namespace: "default", kind: "ConfigMap", name: "m" },
    };
    const events = `/clusters/${cluster}/api/v1/namespaces/default/events` as const;
    expect((await server.send(`POST ${events}`, event, { user: "admin" })).status).to.equal(201);
    const put = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m-0" }, data: { a: "b" } };
    expect((await server.send(`PUT /clusters/${cluster}${MAPS}/m-0`, put, { user: "admin" })).status).to.equal(200);
    expect((await make(server, cluster, "more")).status).to.equal(403);
    // A deletion makes room for one object.
    await server.send(`DELETE /clusters/${cluster}${MAPS}/m-0`, undefined, { user: "admin" });
    await until(async () => (await make(server, cluster, "room")).status === 201);
    expect((await make(server, cluster, "none")).status).to.equal(403);
    // 0 removes the limit.
    expect((await setLimit(server, cluster, { limit: "0" })).status).to.equal(200);
    await until(async () => (await make(server, cluster, "free")).status === 201);
    expect((await make(server, await makeWorkspace(server, "other"), "m")).status).to.equal(201);
  });

  it("can be set by every user who may update the LogicalCluster, as in kcp", async () => {
    await using server = await startWorkspaces();
    const cluster = await makeWorkspace(server, "org");
    await makeAdmin(server, cluster, "alice");
    await until(async () => (await setLimit(server, cluster, { limit: "7", user: "alice" })).status === 200);
    expect((await setLimit(server, cluster, { limit: "0", user: "admin" })).status).to.equal(200);
    expect((await setLimit(server, cluster, { limit: "7", user: "bob" })).status).to.equal(403);
  });

  it("comes after validation and webhooks", async () => {
    await using server = await startWorkspaces();
    const cluster = await makeWorkspace(server, "org");
    await countIn(server, cluster);
    const invalid = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: { "/": "" } };
    expect((await server.send(`POST /clusters/${cluster}${MAPS}`, invalid, { user: "admin" })).status).to.equal(422);
    expect((await make(server, cluster, "x")).status).to.equal(403);
  });

  it("can apply to all workspaces except root, and counts existing objects", async () => {
    await using store = memoryStore();
    const first = await startWorkspaces(store);
    const cluster = await makeWorkspace(first, "org");
    const count = await countIn(first, cluster);
    expect((await setLimit(first, cluster, { limit: null })).status).to.equal(200);
    await until(async () => (await make(first, cluster, "one")).status === 201);
    await first[Symbol.asyncDispose]();
    await using server = await startWorkspaces(store, { totalObjectLimit: count + 1 });
    // The server counts first.
    const dry = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "dry" } };
    const path = `POST /clusters/${cluster}${MAPS}?dryRun=All` as const;
    await until(async () => (await server.send(path, dry, { user: "admin" })).status === 403);
    const full = await make(server, cluster, "two");
    expect([full.status, full.body.message.includes(`(${count + 1}/${count + 1} objects)`)]).to.deep.equal([403, true]);
    for (let at = 0; at < 3; at++) expect((await make(server, "root", `m-${at}`)).status).to.equal(201);
  });
});
