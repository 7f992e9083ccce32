// Ready workspaces in the view of the controller that prepares them, and its permissions there.
import { preparedLabel } from "@virtual-workspaces/lifecycle";
import { expect } from "chai";
import type { Answer, Calls, WatchEvent } from "../../_support/plain.ts";
import { untilAnswer } from "../../_support/until.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { LC, MAPS, map, Owner, root, startViewed } from "./support/owner.ts";

/** Provides a namespace. */
const UNIVERSAL = { extend: { with: [{ name: "universal", path: "root" }] } };
const RULES = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "list", "watch"] }];
const TYPE = { ...UNIVERSAL, initializerPermissions: RULES };
const MERGE = { headers: { "content-type": "application/merge-patch+json" } };

/** Returns the type and logical cluster of an event. */
const told = ({ type, object }: WatchEvent): string => `${type} ${object.metadata.annotations?.["kcp.io/cluster"]}`;

describe("the view of preparing workspaces", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let owner: Owner;

  before(async () => {
    server = await startViewed();
    owner = await Owner.make(server, {
      app: TYPE,
      bare: UNIVERSAL,
      late: TYPE,
      gone: TYPE,
      extending: { extend: { with: [{ name: "app", path: "root:owner" }] } },
      orphan: { extend: { with: ["gone", "app"].map((name) => ({ name, path: "root:owner" })) } },
      slow: { ...TYPE, initializer: true },
    });
    for (const type of ["app", "bare", "gone", "slow"]) await owner.prepares(type, "true");
  });

  after(async () => server?.[Symbol.asyncDispose]());

  const preparing = (cluster = "*", type = "app"): Calls => owner.in("preparing", cluster, type);

  /** Creates a workspace and waits until it is Ready. */
  const ready = async (name: string, type = "app"): Promise<string> => {
    const cluster = await owner.workspace(name, type);
    await owner.until(cluster, ({ body }) => body.status.phase === "Ready");
    return cluster;
  };

  /** Marks a workspace as prepared. */
  const finish = (cluster: string, type = "app"): Promise<Answer> =>
    preparing(cluster, type).send(`PATCH ${LC}/cluster/status`, { status: { initializers: [] } }, MERGE);

  const seen = async (cluster: string, type = "app"): Promise<number> =>
    (await preparing(cluster, type).get(`${LC}/cluster`)).status;

  const shown = async (type = "app"): Promise<string[]> =>
    (await preparing("*", type).get(LC)).body.items.map(
      ({ metadata }: WatchEvent["object"]) => metadata.annotations?.["kcp.io/cluster"],
    );

  it("shows Ready workspaces as waiting, and drops each once it is prepared", async () => {
    const all = preparing();
    await using watch = await all.watch(`${LC}?watch=true`);
    const cluster = await ready("one");
    expect(told(await watch.next())).to.equal(`ADDED ${cluster}`);
    const own = `${owner.cluster}:app`;
    const { body } = await preparing(cluster).get(`${LC}/cluster`);
    expect(body.status).to.include({ phase: "Ready" });
    expect(body.status.initializers).to.deep.equal([own]);
    expect((await all.get(LC)).body.items[0].status.initializers).to.deep.equal([own]);

    // Uses the version of the list, like a controller with an informer for all workspaces.
    const done = await untilAnswer(
      async () => {
        const { metadata } = (await all.get(LC)).body.items[0];
        const said = { metadata: { resourceVersion: metadata.resourceVersion }, status: { initializers: [] } };
        return preparing(cluster).send(`PATCH ${LC}/cluster/status`, said, MERGE);
      },
      ({ status }) => status !== 409,
    );
    expect(done.status, done.text).to.equal(200);
    expect(done.body.status.initializers).to.deep.equal([]);
    expect((await watch.until(({ type }) => type === "DELETED")).map(told).at(-1)).to.equal(`DELETED ${cluster}`);
    expect(await seen(cluster)).to.equal(404);
    expect(await shown()).to.not.include(cluster);
    const { body: kept } = await server.get(`/clusters/${cluster}${LC}/cluster`, root);
    const { key, value } = preparedLabel(own);
    expect(kept.metadata.labels[key]).to.equal(value);
    expect([kept.status.phase, kept.status.initializers ?? []]).to.deep.equal(["Ready", []]);
  });

  it("does not block workspaces, even without a controller", async () => {
    const cluster = await ready("unattended");
    await owner.post(`/clusters/${cluster}${MAPS}`, map("mine"), "bob");
    expect(await shown()).to.include(cluster);
  });

  it("marks a workspace as prepared once, until its label is removed", async () => {
    const cluster = await ready("twice");
    const both = await Promise.all([finish(cluster), finish(cluster)]);
    expect(both.map(({ status }) => status)).to.include(200);
    expect(
      both.every(({ status }) => [200, 404, 409].includes(status)),
      both.map(({ text }) => text).join(),
    ).to.equal(true);
    const again = await finish(cluster);
    expect([again.status, again.body.reason]).to.deep.equal([404, "NotFound"]);
    const { body } = await server.get(`/clusters/${cluster}${LC}/cluster`, root);
    const label = preparedLabel(`${owner.cluster}:app`).key;
    const patch = { metadata: { labels: { [label]: null } } };
    expect(
      (await server.send(`PATCH /clusters/${cluster}${LC}/cluster`, patch, { user: "bob", ...MERGE })).status,
    ).to.equal(200);
    expect(body.metadata.labels).to.have.property(label);
    expect(
      await seen(cluster),
      "without the label, which its owner has taken off, it wants to be prepared again",
    ).to.equal(200);
  });

  it("has workspaces of types that extend the type, whatever else these extend", async () => {
    const [extending, orphan] = [await ready("extending", "extending"), await ready("orphan", "orphan")];
    await using watch = await preparing("*", "gone").watch(`${LC}?watch=true`);
    expect(told(await watch.next())).to.equal(`ADDED ${orphan}`);
    const path = `clusters/${owner.cluster}/apis/tenancy.kcp.io/v1alpha1/workspacetypes/gone`;
    expect((await server.send(`DELETE /${path}`, undefined, root)).status).to.equal(200);
    expect(told(await watch.next())).to.equal(`DELETED ${orphan}`);
    expect(await shown()).to.include.members([extending, orphan]);
    const made = await preparing(extending).send(`POST ${MAPS}`, map("made"));
    expect(made.status, made.text).to.equal(201);
    const steps = [{ op: "remove", path: "/status/initializers/0" }];
    const json = { headers: { "content-type": "application/json-patch+json" } };
    const done = await preparing(extending).send(`PATCH ${LC}/cluster/status`, steps, json);
    expect(done.status, done.text).to.equal(200);
    expect(await shown()).to.not.include(extending);
  });

  it("has existing workspaces once a type has the annotation, and none after it is removed", async () => {
    const cluster = await ready("early", "late");
    await using watch = await preparing("*", "late").watch(`${LC}?watch=true`);
    expect(await shown("late")).to.deep.equal([]);
    expect((await preparing(cluster, "late").get(MAPS)).status).to.equal(403);
    await owner.prepares("late", "true");
    expect(told(await watch.next())).to.equal(`ADDED ${cluster}`);
    expect((await preparing(cluster, "late").get(MAPS)).status).to.equal(200);
    await owner.prepares("late", "false");
    expect(told(await watch.next())).to.equal(`DELETED ${cluster}`);
    expect((await preparing(cluster, "late").get(MAPS)).status).to.equal(403);
    expect((await finish(cluster, "late")).status).to.equal(404);
  });

  it("has no workspace that is initializing or being deleted", async () => {
    await using watch = await preparing("*", "slow").watch(`${LC}?watch=true`);
    const cluster = await owner.settled("slow", "slow");
    expect(await seen(cluster, "slow")).to.equal(404);
    expect((await preparing(cluster, "slow").get(MAPS)).status).to.equal(403);
    const initializing = owner.in("initializing", cluster, "slow");
    const gone = await initializing.send(`PATCH ${LC}/cluster/status`, { status: { initializers: [] } }, MERGE);
    expect(gone.status, gone.text).to.equal(200);
    expect(told(await watch.next())).to.equal(`ADDED ${cluster}`);
    await owner.remove("slow");
    expect((await watch.until(({ type }) => type === "DELETED")).map(told).at(-1)).to.equal(`DELETED ${cluster}`);
    expect(await seen(cluster, "slow")).to.be.oneOf([403, 404]);
    expect((await finish(cluster, "slow")).status).to.be.oneOf([403, 404]);
  });

  it("accepts only status writes that remove its own initializer or change conditions", async () => {
    const cluster = await ready("ruled");
    const own = `${owner.cluster}:app`;
    const one = preparing(cluster);
    const { body: before } = await one.get(`${LC}/cluster`);
    const put = (status: object, metadata: object = {}) =>
      one.send(`PUT ${LC}/cluster/status`, {
        ...before,
        status: { ...before.status, ...status },
        metadata: { ...before.metadata, ...metadata },
      });
    for (const [field, value] of [
      ["initializers", [own, "root:universal"]],
      ["initializers", ["root:universal"]],
      ["terminators", [own]],
      ["phase", "Initializing"],
      ["URL", "https://elsewhere.example"],
    ] as const) {
      const { status, body } = await put({ [field]: value });
      expect([status, body.details?.causes?.[0]?.field], `${field} ${value}`).to.deep.equal([422, `status.${field}`]);
    }
    const condition = { type: "Prepared", status: "False", lastTransitionTime: "2026-01-01T00:00:00Z" };
    const labels = { ...before.metadata.labels, mine: "too" };
    const said = await put({ conditions: [...(before.status.conditions ?? []), condition] }, { labels });
    expect(said.status, said.text).to.equal(200);
    const stale = await put({ initializers: [] });
    expect([stale.status, stale.body.reason]).to.deep.equal([409, "Conflict"]);
    const { body: kept } = await server.get(`/clusters/${cluster}${LC}/cluster`, root);
    expect(kept.status.conditions.map(({ type }: { type: string }) => type)).to.include("Prepared");
    expect(kept.metadata.labels).to.not.have.property("mine");
    expect(kept.metadata.annotations).to.have.all.keys(
      Object.keys(before.metadata.annotations).filter((key) => !key.startsWith("virtual-workspaces.dev/")),
    );
    const dry = await one.send(`PATCH ${LC}/cluster/status?dryRun=All`, { status: { initializers: [] } }, MERGE);
    expect(dry.status, dry.text).to.equal(200);
    expect(await seen(cluster)).to.equal(200);
    const applied = await one.send(
      `PATCH ${LC}/cluster/status?fieldManager=preparer&force=true`,
      { apiVersion: before.apiVersion, kind: before.kind, metadata: { name: "cluster" }, status: { initializers: [] } },
      { headers: { "content-type": "application/apply-patch+yaml" } },
    );
    expect(applied.status, applied.text).to.equal(200);
    expect(await seen(cluster)).to.equal(404);
  });

  it("reads and writes only the status of a LogicalCluster", async () => {
    const cluster = await ready("verbs");
    const one = preparing(cluster);
    const { body } = await one.get(`${LC}/cluster`);
    for (const [calls, call] of [
      [one, `PUT ${LC}/cluster`],
      [one, `PATCH ${LC}/cluster`],
      [one, `DELETE ${LC}/cluster`],
      [one, `POST ${LC}`],
      [one, `GET ${LC}`],
      [preparing(), `POST ${LC}`],
    ] as const)
      expect((await calls.send(call, call.startsWith("GET") ? undefined : body)).status, call).to.equal(405);
    expect((await preparing().get("/api/v1/configmaps")).status).to.equal(404);
  });

  it("grants its controller the type's permissions, as the caller, until it is done", async () => {
    const cluster = await ready("permitted");
    const one = preparing(cluster);
    await using watch = await one.watch(`${MAPS}?watch=true`);
    const made = await one.send(`POST ${MAPS}`, map("made"));
    expect(made.status, made.text).to.equal(201);
    await watch.until(({ object }) => object.metadata.name === "made");
    for (const [call, code] of [
      [`GET ${MAPS}/made`, 403],
      [`DELETE ${MAPS}/made`, 403],
      ["GET /api/v1/namespaces/default/secrets", 403],
      ["GET /api", 403],
      ["POST /apis/authentication.k8s.io/v1/selfsubjectreviews", 403],
    ] as const) {
      const answer = await one.send(call, call.startsWith("POST") ? {} : undefined);
      expect([answer.status, answer.body.kind], call).to.deep.equal([code, "Status"]);
    }
    const other = await one.send(`POST ${MAPS}`, map("as-root"), { headers: { "impersonate-user": "root" } });
    expect(other.status, other.text).to.equal(403);
    expect((await server.get(`/clusters/${cluster}${MAPS}`)).status, "past the view").to.equal(403);
    expect((await preparing("root").get(MAPS)).status, "a workspace of another type").to.equal(403);

    expect((await finish(cluster)).status).to.equal(200);
    await watch.rest();
    expect((await one.get(MAPS)).status).to.equal(403);
  });

  it("grants no owner's rights and nothing else for a type without permissions", async () => {
    const cluster = await ready("bare", "bare");
    const one = preparing(cluster, "bare");
    expect((await one.get(`${LC}/cluster`)).status).to.equal(200);
    for (const path of [MAPS, "/api", "/version"]) expect((await one.get(path)).status, path).to.equal(403);
    expect((await one.send(`POST ${MAPS}`, map("made"))).status).to.equal(403);
    expect((await finish(cluster, "bare")).status).to.equal(200);
  });

  it("is only for users who may prepare the type", async () => {
    const cluster = await ready("refused");
    await owner.let("bob", ["initialize"]);
    const bob = { user: "bob" };
    await using watch = await preparing().watch(`${LC}?watch=true`);
    for (const [calls, path] of [
      [preparing(), LC],
      [preparing(), `${LC}?watch=true`],
      [preparing(cluster), `${LC}/cluster`],
      [preparing(cluster), MAPS],
      [preparing(cluster), "/api"],
    ] as const)
      expect((await calls.get(path, bob)).status, path).to.equal(403);
    const said = { status: { initializers: [] } };
    const written = await preparing(cluster).send(`PATCH ${LC}/cluster/status`, said, { ...bob, ...MERGE });
    expect(written.status).to.equal(403);
    await owner.forbid("alice");
    await watch.rest();
    expect((await preparing().get(LC)).status).to.equal(403);
  });
});
