// Finalizers and grace periods are the source's: they hold an object in every view of it.
import { defineResource, view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { label } from "../_support/plain.ts";
import { CHORES, Chore, chore, chores, MERGE, MINE, serve, TASKS, Task } from "./lens-kinds.ts";

const HELD = { finalizers: ["test.dev/hold"] };

describe("deletion through a view", () => {
  it("marks an object with finalizers, and removes it with the last of them", async () => {
    const tasks = Task.collection();
    await using server = await serve(tasks, Chore.serve(chores(tasks)));
    await using watch = await server.watch(`${CHORES}?watch=true`);
    await server.send(`POST ${CHORES}`, chore("a", { text: "t" }, HELD));
    const { body: marked, status } = await server.send(`DELETE ${CHORES}/a`);
    expect(status).to.equal(200);
    expect(marked).to.deep.include({ kind: "Chore", spec: { text: "t" } });
    expect(marked.metadata).to.have.property("deletionTimestamp");
    expect(marked.metadata.generation).to.equal(2);
    expect((await server.get(`${TASKS}/a`)).body.metadata).to.have.property("deletionTimestamp");
    const events = [await watch.next(), await watch.next()];
    expect(events.map(label)).to.deep.equal(["ADDED a", "MODIFIED a"]);
    expect(events[1]?.object).to.deep.equal(marked);
    const more = await server.send(`PATCH ${CHORES}/a`, { metadata: { finalizers: ["test.dev/b"] } }, MERGE);
    expect(more.body.message).to.contain("no new finalizers can be added if the object is being deleted");
    const released = await server.send(`PATCH ${CHORES}/a`, { metadata: { finalizers: null } }, MERGE);
    expect(released.status).to.equal(200);
    expect(label(await watch.next())).to.equal("DELETED a");
    // As Kubernetes answers an update that removes its object.
    expect(released.body.metadata.resourceVersion).to.equal(marked.metadata.resourceVersion);
    expect((await server.get(`${TASKS}/a`)).status).to.equal(404);
  });

  it("continues after the object has left the view and come back", async () => {
    const tasks = Task.collection();
    const here = tasks.in("root");
    await using server = await serve(tasks, Chore.serve(chores(tasks)));
    await server.send(`POST ${CHORES}`, chore("a", { text: "t" }, HELD));
    here.set("a", { title: "t", done: true });
    expect((await server.get(`${CHORES}/a`)).status).to.equal(404);
    expect(here.get("a")?.metadata.finalizers).to.deep.equal(HELD.finalizers);
    expect((await server.send(`DELETE ${CHORES}/a`)).status).to.equal(404);
    here.delete("a");
    expect(here.get("a")?.metadata).to.have.property("deletionTimestamp");
    expect((await server.send(`PATCH ${CHORES}/a`, { metadata: { finalizers: null } }, MERGE)).status).to.equal(404);
    here.set("a", { title: "t", done: false });
    const { body } = await server.get(`${CHORES}/a`);
    expect(body.metadata).to.deep.include(HELD).and.to.have.property("deletionTimestamp");
    await server.send(`PATCH ${CHORES}/a`, { metadata: { finalizers: null } }, MERGE);
    expect(here.get("a")).to.equal(undefined);
  });

  it("succeeds when the mark makes the object leave the view, and does not remove the object", async () => {
    const tasks = Task.collection();
    tasks.in("root").set("a", { title: "t" });
    const living = view({
      from: tasks,
      select: ({ metadata }) => metadata.deletionTimestamp === undefined,
      mapToSource: (object) => object,
    });
    await using server = await serve(tasks, Task.serve(living));
    await server.send(`PATCH ${MINE}/a`, { metadata: HELD }, MERGE);
    await using watch = await server.watch(`${MINE}?watch=true`);
    expect(label(await watch.next())).to.equal("ADDED a");
    const { body } = await server.send(`DELETE ${MINE}/a`);
    expect(body.metadata).to.have.property("deletionTimestamp");
    const event = await watch.next();
    expect(label(event)).to.equal("DELETED a");
    expect(body.metadata.resourceVersion).to.equal(event.object.metadata.resourceVersion);
    expect(tasks.in("root").get("a")?.metadata).to.deep.include(HELD);
  });

  it("uses the grace period of the source's kind", async () => {
    const Job = defineResource({
      group: "test.dev",
      version: "v1",
      kind: "Job",
      scope: "Cluster",
      gracePeriodSeconds: 30,
      spec: { type: "object", properties: { on: { type: "boolean" } } },
    });
    const jobs = Job.collection();
    jobs.in("root").set("a", { on: true });
    const lens = view({ from: jobs, select: ({ spec }) => spec.on === true, mapToSource: (object) => object });
    await using server = await serve(Task.collection(), Job.serve(lens));
    const path = "/services/view/clusters/root/apis/test.dev/v1/jobs" as const;
    const { body } = await server.send(`DELETE ${path}/a`);
    expect(body.metadata.deletionGracePeriodSeconds).to.equal(30);
    const sooner = await server.send(`DELETE ${path}/a`, { gracePeriodSeconds: 5 });
    expect(sooner.body.metadata.deletionGracePeriodSeconds).to.equal(5);
    expect(jobs.in("root").list()).to.have.length(1);
    expect((await server.send(`DELETE ${path}/a?gracePeriodSeconds=0`)).body.status).to.equal("Success");
    expect(jobs.in("root").list()).to.deep.equal([]);
  });

  it("of a collection in pages deletes the listed objects, dry runs none", async () => {
    const tasks = Task.collection();
    const here = tasks.in("root");
    for (const [name, done] of [
      ["a", false],
      ["b", true],
      ["c", false],
    ] as const)
      here.set(name, { title: "t", done });
    await using server = await serve(tasks, Chore.serve(chores(tasks)));
    expect((await server.send(`DELETE ${CHORES}?dryRun=All`)).body.items).to.have.length(2);
    expect(here.list()).to.have.length(3);
    expect((await server.send(`DELETE ${CHORES}`)).body.items).to.have.length(2);
    expect(here.list().map(({ metadata }) => metadata.name)).to.deep.equal(["b"]);
  });
});
