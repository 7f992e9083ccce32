// Initializing workspaces and their content in the view of their type's controller.
import { expect } from "chai";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { LC, LISTED, MAPS, map, Owner, root, startViewed, told, UNIVERSAL } from "./support/owner.ts";

describe("the view of initializing workspaces", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let owner: Owner;

  before(async () => {
    server = await startViewed();
    owner = await Owner.make(server, {
      app: { initializer: true, ...UNIVERSAL },
      other: { initializer: true },
      strict: { initializer: true, ...UNIVERSAL, initializerPermissions: LISTED },
      both: { initializer: true, extend: { with: [{ name: "app", path: "root:owner" }] } },
    });
  });

  after(async () => server?.[Symbol.asyncDispose]());

  it("has the workspaces that wait for a type, drops each once it is done, and hides all others", async () => {
    const all = owner.in("initializing");
    await using watch = await all.watch(`${LC}?watch=true`);
    await owner.workspace("of-another", "other");
    const cluster = await owner.workspace("one");
    expect(told(await watch.next())).to.equal(`ADDED ${cluster}`);
    const listed = (await all.get(LC)).body.items;
    expect(listed.map(({ metadata }: { metadata: { annotations: object } }) => metadata.annotations)).to.have.length(1);
    expect(listed[0].status.initializers).to.include(`${owner.cluster}:app`);
    const one = owner.in("initializing", cluster);
    expect((await one.get(`${LC}/cluster`)).body.spec.createdBy.username).to.equal("bob");

    await owner.finish("initializing", cluster);
    expect((await watch.until(({ type }) => type === "DELETED")).map(told).at(-1)).to.equal(`DELETED ${cluster}`);
    expect((await one.get(`${LC}/cluster`)).status).to.equal(404);
    expect((await one.get(MAPS)).status).to.equal(403);
    await owner.until(cluster, ({ body }) => body.status.phase === "Ready");
    expect((await all.get(LC)).body.items).to.deep.equal([]);
  });

  it("reads and writes only the status of a LogicalCluster", async () => {
    const cluster = await owner.workspace("verbs");
    const [all, one] = [owner.in("initializing"), owner.in("initializing", cluster)];
    const { body } = await one.get(`${LC}/cluster`);
    expect((await all.get("/")).body.paths).to.include("/apis/core.kcp.io/v1alpha1");
    for (const [calls, call] of [
      [one, `PUT ${LC}/cluster`],
      [one, `PATCH ${LC}/cluster`],
      [one, `DELETE ${LC}/cluster`],
      [one, `POST ${LC}`],
      [one, `GET ${LC}`],
      [all, `POST ${LC}`],
    ] as const)
      expect((await calls.send(call, call.startsWith("GET") ? undefined : body)).status, call).to.equal(405);
    expect((await one.get(`${LC}/cluster/status`)).status).to.equal(200);
    expect((await all.get("/api/v1/configmaps")).status).to.equal(404);
    const names = async (path: string, calls = all) =>
      (await calls.get(path)).body.resources.map(({ name, verbs }: { name: string; verbs: string[] | null }) => [
        name,
        verbs,
      ]);
    expect(await names("/apis/core.kcp.io/v1alpha1")).to.deep.equal([
      ["logicalclusters", ["get", "list", "watch"]],
      ["logicalclusters/status", null],
    ]);
  });

  it("accepts only status writes that remove its own initializer or change conditions", async () => {
    const cluster = await owner.settled("ruled", "both");
    const own = `${owner.cluster}:app`;

    const other = `${owner.cluster}:both`;
    const one = owner.in("initializing", cluster);
    const { body: before } = await one.get(`${LC}/cluster`);
    expect(before.status.initializers).to.have.members([own, other]);
    const put = (status: object) =>
      one.send(`PUT ${LC}/cluster/status`, {
        ...before,
        status: { ...before.status, ...status },
        metadata: { ...before.metadata, managedFields: undefined },
      });
    for (const [field, value] of [
      ["initializers", [own]],
      ["initializers", []],
      ["initializers", [other, "root:universal"]],
      ["initializers", [other, other]],
      ["initializers", [...before.status.initializers].reverse()],
      ["initializers", "none"],
      ["initializers", [own, other, "root:universal"]],
      ["terminators", [own]],
      ["phase", "Ready"],
      ["URL", "https://elsewhere.example"],
    ] as const) {
      const { status, body } = await put({ [field]: value });
      expect([status, body.details?.causes?.[0]?.field], `${field} ${value}`).to.deep.equal([422, `status.${field}`]);
      expect(body.reason).to.equal("Invalid");
    }
    const condition = { type: "SetUp", status: "False", lastTransitionTime: "2026-01-01T00:00:00Z" };
    const conditioned = await put({ conditions: [...(before.status.conditions ?? []), condition] });
    expect(conditioned.status, conditioned.text).to.equal(200);
    const merge = { headers: { "content-type": "application/merge-patch+json" } };
    const gone = await one.send(`PATCH ${LC}/cluster/status`, { status: { initializers: [other] } }, merge);
    expect(gone.status, gone.text).to.equal(200);
    expect((await one.get(`${LC}/cluster`)).status).to.equal(404);
    const { body: after } = await server.get(`/clusters/${cluster}${LC}/cluster`, root);
    expect(after.status.initializers).to.deep.equal([other]);
    expect(after.status.conditions.map(({ type }: { type: string }) => type)).to.include("SetUp");
    expect((await owner.in("initializing", cluster, "both").get(`${LC}/cluster`)).status).to.equal(200);
  });

  it("grants a type without permissions the rights of the workspace's owner, as that owner", async () => {
    const cluster = await owner.settled("owned");
    const one = owner.in("initializing", cluster);
    await using watch = await one.watch(`${MAPS}?watch=true`);
    const made = await one.send(`POST ${MAPS}`, map("made"), { headers: { "impersonate-user": "root" } });
    expect(made.status, made.text).to.equal(403);
    expect((await one.send(`POST ${MAPS}`, map("made"))).status).to.equal(201);
    await watch.until(({ object }) => object.metadata.name === "made");
    for (const path of ["/api", "/apis", "/openapi/v3", "/version", "/api/v1"])
      expect((await one.get(path)).status, path).to.equal(200);
    const self = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const who = await one.send("POST /apis/authentication.k8s.io/v1/selfsubjectreviews", self);
    expect(who.body.status.userInfo.username).to.equal("bob");
    expect((await server.get(`/clusters/${cluster}${MAPS}`)).status, "past the view").to.equal(403);

    await owner.finish("initializing", cluster);
    await watch.rest();
    expect((await one.get(MAPS)).status).to.equal(403);
  });

  it("grants a type with permissions only these, as the caller", async () => {
    const cluster = await owner.settled("permitted", "strict");
    const one = owner.in("initializing", cluster, "strict");
    const made = await one.send(`POST ${MAPS}`, map("made"));
    expect(made.status, made.text).to.equal(201);
    expect(
      (await one.get(MAPS)).body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    ).to.include("made");
    for (const [call, code] of [
      [`GET ${MAPS}/made`, 403],
      [`DELETE ${MAPS}/made`, 403],
      ["GET /api/v1/namespaces/default/secrets", 403],
      ["GET /api", 403],
      ["GET /openapi/v3", 403],
      ["POST /apis/authentication.k8s.io/v1/selfsubjectreviews", 403],
    ] as const) {
      const answer = await one.send(call, call.startsWith("POST") ? {} : undefined);
      expect([answer.status, answer.body.kind], call).to.deep.equal([code, "Status"]);
    }
    expect((await one.get(`${LC}/cluster`)).status).to.equal(200);
  });
});
