// A writable view: what a change of its objects does at the source, and what its clients see.
import { ApiError } from "@virtual-workspaces/apimachinery";
import { SOURCE_VERSION_ANNOTATION, view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { CHORES, Chore, chore, chores, MERGE, MINE, mine, outcome, serve, TASKS, Task, task } from "./lens-kinds.ts";

describe("a writable view", () => {
  it("creates, updates and deletes at the source, and returns the mapped object at the version that watchers see", async () => {
    const tasks = Task.collection();
    await using server = await serve(tasks, Chore.serve(chores(tasks)));
    const { body: empty } = await server.get(CHORES);
    await using watch = await server.watch(`${CHORES}?watch=true&resourceVersion=${empty.metadata.resourceVersion}`);
    const created = await server.send(`POST ${CHORES}`, chore("a", { text: "wash" }, { labels: { l: "x" } }));
    expect(created.status).to.equal(201);
    expect(created.body.spec).to.deep.equal({ text: "wash" });
    expect(created.body.metadata).to.include({ name: "a", generation: 1 });
    expect(await watch.next()).to.deep.equal({ type: "ADDED", object: created.body });
    expect((await server.get(`${CHORES}/a`)).body).to.deep.equal(created.body);
    const { body: kept } = await server.get(`${TASKS}/a`);
    expect(kept.spec).to.deep.equal({ title: "wash", done: false });
    expect(kept.metadata).to.deep.include({ uid: created.body.metadata.uid, labels: { l: "x" } });
    expect(created.body.metadata.annotations[SOURCE_VERSION_ANNOTATION]).to.equal(kept.metadata.resourceVersion);
    const updated = await server.send(`PUT ${CHORES}/a`, { ...created.body, spec: { text: "dry" } });
    expect(outcome(updated)).to.deep.equal([200, undefined, undefined]);
    expect(updated.body.metadata.generation).to.equal(2);
    expect(await watch.next()).to.deep.equal({ type: "MODIFIED", object: updated.body });
    const patched = await server.send(`PATCH ${CHORES}/a`, { spec: { count: 1 } }, MERGE);
    expect(patched.body.spec).to.deep.equal({ text: "dry", count: 1 });
    expect((await watch.next()).object).to.deep.equal(patched.body);
    const deleted = await server.send(`DELETE ${CHORES}/a`);
    expect(deleted.body).to.deep.include({ kind: "Status", status: "Success" });
    expect((await watch.next()).type).to.equal("DELETED");
    expect((await server.get(`${TASKS}/a`)).status).to.equal(404);
  });

  it("keeps hidden fields, status, labels and annotations", async () => {
    const tasks = Task.collection();
    const here = tasks.in("root");
    here.set("a", { title: "t", secret: "s3cret" }, { labels: { shown: "1", hidden: "2" }, annotations: { x: "y" } });
    here.setStatus("a", { phase: "New" });
    const narrow = view({
      from: tasks,
      to: Chore,
      map: ({ spec, metadata }) => ({
        spec: { text: spec.title },
        metadata: { labels: { shown: metadata.labels?.["shown"] ?? "", added: "by the view" } },
      }),
      mapToSource: ({ spec }, { source }) => ({ spec: { ...source?.spec, title: spec.text } }),
    });
    await using server = await serve(tasks, Chore.serve(narrow));
    const { body, text } = await server.get(`${CHORES}/a`);
    expect(text).not.to.contain("s3cret").and.not.contain("hidden");
    const unchanged = here.get("a")?.metadata.resourceVersion;
    expect((await server.send(`PUT ${CHORES}/a`, body)).body).to.deep.equal(body);
    expect(here.get("a")?.metadata.resourceVersion, "what is put back as it was changes nothing").to.equal(unchanged);
    const { labels } = body.metadata;
    body.metadata.labels = { ...labels, shown: "3", new: "4" };
    body.metadata.annotations.z = "w";
    expect((await server.send(`PUT ${CHORES}/a`, { ...body, spec: { text: "u" } })).status).to.equal(200);
    const kept = here.get("a");
    expect(kept?.spec).to.deep.equal({ title: "u", secret: "s3cret", done: false });
    expect(kept?.status).to.deep.equal({ phase: "New" });
    expect(kept?.metadata.labels).to.deep.equal({ shown: "3", hidden: "2", new: "4" });
    expect(kept?.metadata.annotations).to.include({ x: "y", z: "w" });
    await server.send(`PATCH ${CHORES}/a`, { metadata: { labels: { shown: null }, annotations: { x: null } } }, MERGE);
    expect(here.get("a")?.metadata.labels).to.deep.equal({ hidden: "2", new: "4" });
    expect(here.get("a")?.metadata.annotations).not.to.have.property("x");
  });

  it("enforces the rules of the source, and names their owner", async () => {
    const tasks = Task.collection();
    await using server = await serve(tasks, Chore.serve(chores(tasks)), Task.serve(mine(tasks)));
    const refused = await server.send(`POST ${CHORES}`, chore("a", { text: "x".repeat(21) }));
    expect(outcome(refused).slice(0, 2)).to.deep.equal([422, "Invalid"]);
    expect(refused.body.message).to.match(
      /^Chore\.view\.dev "a" is invalid: spec\.title: Too long: .* \(a field of the Task\.test\.dev that stores this Chore\)$/,
    );
    expect(refused.body.details).to.include({ group: "view.dev", kind: "Chore", name: "a" });
    const label = await server.send(`POST ${CHORES}`, chore("a", { text: "x" }, { labels: { "bad key": "" } }));
    expect(label.status).to.equal(422);
    expect(label.body.message).not.to.contain("Task");
    const plain = await server.send(`POST ${MINE}`, task("a", { title: "x".repeat(21) }));
    expect(plain.body.message).to.match(/^Task\.test\.dev "a" is invalid: spec\.title: Too long: [^(]*$/);
    expect((await server.send(`POST ${CHORES}`, chore("Bad Name", { text: "x" }))).status).to.equal(422);
    expect(tasks.in("root").list()).to.deep.equal([]);
  });

  it("enforces its own kind as well: schema, subresources, status", async () => {
    const tasks = Task.collection();
    await using server = await serve(tasks, Chore.serve(chores(tasks)), Task.serve(mine(tasks)));
    const missing = await server.send(`POST ${CHORES}`, chore("a", {}));
    expect(missing.body.message).to.equal('Chore.view.dev "a" is invalid: spec.text: Required value');
    const { body } = await server.send(`POST ${MINE}`, { ...task("a", { title: "t" }), status: { phase: "No" } });
    expect(body.status).to.equal(undefined);
    expect(body.spec).to.deep.equal({ title: "t", done: false, owner: "alice" });
    const status = await server.send(`PUT ${MINE}/a/status`, {
      ...body,
      spec: { title: "other", owner: "bob" },
      status: { phase: "Yes" },
    });
    expect(status.body.status).to.deep.equal({ phase: "Yes" });
    expect(status.body.spec).to.deep.equal(body.spec);
    expect(status.body.metadata.generation).to.equal(1);
    const main = await server.send(`PUT ${MINE}/a`, { ...status.body, status: { phase: "No" } });
    expect(main.body.status).to.deep.equal({ phase: "Yes" });
    const none = await server.send(`PUT ${MINE}/a/status`, { ...main.body, status: undefined });
    expect(none.body.status).to.equal(undefined);
    expect(tasks.in("root").get("a")?.status).to.equal(undefined);
  });

  it("generates names, and changes nothing on a dry run", async () => {
    const tasks = Task.collection();
    await using server = await serve(tasks, Chore.serve(chores(tasks)));
    const body = chore("", { text: "t" }, { name: undefined, generateName: "job-" });
    const dry = await server.send(`POST ${CHORES}?dryRun=All`, body);
    expect(dry.status).to.equal(201);
    expect(dry.body.metadata.resourceVersion).to.equal(undefined);
    expect(dry.body.metadata.annotations ?? {}).not.to.have.property(SOURCE_VERSION_ANNOTATION);
    const { body: made } = await server.send(`POST ${CHORES}`, body);
    expect(made.metadata.name).to.match(/^job-.{5}$/);
    const { name } = made.metadata;
    const update = await server.send(`PATCH ${CHORES}/${name}?dryRun=All`, { spec: { text: "u" } }, MERGE);
    expect(update.body.spec).to.deep.equal({ text: "u" });
    expect(update.body.metadata.resourceVersion).to.equal(made.metadata.resourceVersion);
    expect((await server.send(`PATCH ${CHORES}/${name}?dryRun=All`, { spec: { done: true } }, MERGE)).status).to.equal(
      403,
    );
    expect((await server.send(`DELETE ${CHORES}/${name}?dryRun=All`)).body.status).to.equal("Success");
    expect((await server.get(`${CHORES}/${name}`)).body).to.deep.equal(made);
    expect(tasks.in("root").list()).to.have.length(1);
  });

  it("returns an ApiError of `mapToSource`, and stores nothing", async () => {
    const tasks = Task.collection();
    tasks.in("root").set("a", { title: "t" });
    let thrown: Error = ApiError.badRequest("not today");
    const moody = view({
      from: tasks,
      mapToSource: () => {
        throw thrown;
      },
    });
    await using server = await serve(tasks, Task.serve(moody));
    const patch = () => server.send(`PATCH ${MINE}/a`, { spec: { title: "u" } }, MERGE);
    expect(outcome(await patch())).to.deep.equal([400, "BadRequest", "not today"]);
    thrown = new Error("secret");
    const { status, text } = await patch();
    expect(status).to.equal(500);
    expect(text).not.to.contain("secret");
    expectFault(/secret/);
    expect(tasks.in("root").get("a")?.spec.title).to.equal("t");
  });

  it("is read-only without mapToSource", async () => {
    const tasks = Task.collection();
    const readOnly = view({ from: tasks, select: () => true });
    await using server = await serve(tasks, Task.serve(readOnly));
    const { body } = await server.get("/services/view/clusters/root/apis/test.dev/v1");
    expect(body.resources[0].verbs).to.deep.equal(["get", "list", "watch"]);
    expect((await server.send(`POST ${MINE}`, task("a", { title: "t" }))).status).to.equal(405);
    expect(() => view({ from: readOnly as never, mapToSource: (object: never) => object })).to.throw(
      "view of tasks: mapToSource needs a source that can be written: it has no create, update, delete",
    );
  });
});
