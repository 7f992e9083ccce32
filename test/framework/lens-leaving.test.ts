// Writes that affect who sees an object: a view stores nothing that it would not show, unless its options allow that.
import { view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { label } from "../_support/plain.ts";
import {
  APPLY,
  CHORES,
  Chore,
  chore,
  chores,
  MERGE,
  MINE,
  mine,
  outcome,
  serve,
  TASKS,
  Task,
  task,
} from "./lens-kinds.ts";

const LEAVES = "the object would leave this view with this change";
const UNSEEN = "this view would not show the object";

describe("a write through a view that would leave it", () => {
  it("is rejected for every verb, and changes nothing", async () => {
    const tasks = Task.collection();
    tasks.in("root").set("a", { title: "t", owner: "alice", secret: "s3cret" });
    const before = tasks.in("root").get("a");
    await using server = await serve(tasks, Chore.serve(chores(tasks)), Task.serve(mine(tasks)));
    const { body } = await server.get(`${CHORES}/a`);
    const refused = [
      await server.send(`PATCH ${CHORES}/a`, { spec: { done: true } }, MERGE),
      await server.send(`PUT ${CHORES}/a`, { ...body, spec: { text: "t", done: true } }),
      await server.send(
        `PATCH ${CHORES}/a?fieldManager=m`,
        JSON.stringify(chore("a", { text: "t", done: true })),
        APPLY,
      ),
    ];
    for (const answer of refused)
      expect(outcome(answer)).to.deep.equal([403, "Forbidden", `chores.view.dev "a" is forbidden: ${LEAVES}`]);
    expect(refused.map(({ text }) => text).join()).not.to.contain("s3cret");
    const created = await server.send(`POST ${CHORES}`, chore("b", { text: "t", done: true }));
    expect(outcome(created)).to.deep.equal([403, "Forbidden", `chores.view.dev "b" is forbidden: ${UNSEEN}`]);
    const applied = await server.send(
      `PATCH ${CHORES}/b?fieldManager=m`,
      JSON.stringify(chore("b", { text: "t", done: true })),
      APPLY,
    );
    expect(outcome(applied)).to.deep.equal([403, "Forbidden", `chores.view.dev "b" is forbidden: ${UNSEEN}`]);
    const given = await server.send(`PATCH ${MINE}/a`, { spec: { owner: "bob" } }, MERGE);
    expect(outcome(given)).to.deep.equal([403, "Forbidden", `tasks.test.dev "a" is forbidden: ${LEAVES}`]);
    expect(tasks.in("root").list()).to.deep.equal([before]);
  });

  it("is judged by the object as stored: defaults, uids and changes by the source's kind", async () => {
    const tasks = Task.collection();
    const seen: unknown[] = [];
    const undone = view({
      from: tasks,
      select: ({ spec, status, metadata }) => {
        seen.push([spec.done, status, typeof metadata.uid]);
        return spec.done === false;
      },
      mapToSource: (object) => object,
    });
    await using server = await serve(tasks, Task.serve(undone));
    const sent = { ...task("a", { title: "t" }), status: { phase: "x" } };
    expect((await server.send(`POST ${MINE}`, sent)).status).to.equal(201);
    expect(seen[0]).to.deep.equal([false, undefined, "string"]);
  });

  it("is rejected when its map returns a value that cannot be encoded", async () => {
    const tasks = Task.collection();
    const told: string[] = [];
    const odd = view({
      from: tasks,
      to: Chore,
      map: ({ spec }) => {
        const made: { spec: { text: string; itself?: object } } = { spec: { text: spec.title } };
        if (spec.title === "cycle") made.spec.itself = made;
        return made;
      },
      mapToSource: ({ spec }) => ({ spec: { title: spec.text } }),
      onError: (error) => void told.push(String(error)),
    });
    await using server = await serve(tasks, Chore.serve(odd));
    const refused = await server.send(`POST ${CHORES}`, chore("a", { text: "cycle" }));
    expect(outcome(refused)).to.deep.equal([403, "Forbidden", `chores.view.dev "a" is forbidden: ${UNSEEN}`]);
    expect(tasks.in("root").list()).to.deep.equal([]);
    expect(told).to.have.length(1);
    expect(told[0]).to.match(/^TypeError: .*circular/);
  });

  it("succeeds with allowLeavingView, returns the mapped object, and watchers see it leave", async () => {
    const tasks = Task.collection();
    tasks.in("root").set("a", { title: "t" });
    await using server = await serve(tasks, Chore.serve(chores(tasks, { allowLeavingView: true })));
    await using watch = await server.watch(`${CHORES}?watch=true`);
    expect(label(await watch.next())).to.equal("ADDED a");
    const left = await server.send(`PATCH ${CHORES}/a`, { spec: { done: true, text: "u" } }, MERGE);
    expect(outcome(left)).to.deep.equal([200, undefined, undefined]);
    expect(left.body.spec).to.deep.equal({ text: "u" });
    const event = await watch.next();
    expect(label(event)).to.equal("DELETED a");
    expect(left.body.metadata.resourceVersion).to.equal(event.object.metadata.resourceVersion);
    expect(tasks.in("root").get("a")?.spec).to.include({ title: "u", done: true });
    const made = await server.send(`POST ${CHORES}`, chore("b", { text: "t", done: true }));
    expect(made.status).to.equal(201);
    expect((await server.get(`${CHORES}/b`)).status).to.equal(404);
    expect((await server.send(`PATCH ${CHORES}/a`, { spec: { text: "v" } }, MERGE)).status).to.equal(404);
  });

  it("gets 404 for an object outside the view, whose name is taken nevertheless", async () => {
    const tasks = Task.collection();
    tasks.in("root").set("a", { title: "t", owner: "bob", secret: "s3cret" });
    const before = tasks.in("root").get("a");
    await using server = await serve(tasks, Task.serve(mine(tasks)));
    const sent = task("a", { title: "mine" }, { resourceVersion: before?.metadata.resourceVersion });
    const answers = [
      await server.send(`PUT ${MINE}/a`, sent),
      await server.send(`PATCH ${MINE}/a`, { spec: { title: "mine" } }, MERGE),
      await server.send(`DELETE ${MINE}/a`),
      await server.get(`${MINE}/a`),
    ];
    for (const answer of answers)
      expect(outcome(answer)).to.deep.equal([404, "NotFound", 'tasks.test.dev "a" not found']);
    const taken = await server.send(`POST ${MINE}`, task("a", { title: "mine" }));
    const applied = await server.send(
      `PATCH ${MINE}/a?fieldManager=m`,
      JSON.stringify(task("a", { title: "m" })),
      APPLY,
    );
    for (const answer of [taken, applied])
      expect(outcome(answer)).to.deep.equal([409, "AlreadyExists", 'tasks.test.dev "a" already exists']);
    expect(tasks.in("root").get("a")).to.deep.equal(before);
  });

  it("is limited by `by`: callers write only objects they see, and deletecollection deletes only those", async () => {
    const tasks = Task.collection();
    const here = tasks.in("root");
    for (const owner of ["alice", "bob"]) for (const n of [1, 2]) here.set(`${owner}-${n}`, { title: "t", owner });
    await using server = await serve(tasks, Task.serve(mine(tasks)));
    expect((await server.send(`DELETE ${MINE}/bob-1`)).status).to.equal(404);
    expect(
      (await server.send(`PATCH ${MINE}/bob-1`, { spec: { title: "u" } }, { ...MERGE, user: "bob" })).status,
    ).to.equal(200);
    const { body } = await server.send(`POST ${MINE}`, task("new", { title: "t", owner: "alice" }), { user: "bob" });
    expect(body.spec.owner).to.equal("bob");
    const { body: gone } = await server.send(`DELETE ${MINE}`);
    expect(gone.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).to.deep.equal([
      "alice-1",
      "alice-2",
    ]);
    expect(here.list().map(({ metadata }) => metadata.name)).to.deep.equal(["bob-1", "bob-2", "new"]);
  });

  it("fails when the object leaves the view during the write", async () => {
    const tasks = Task.collection();
    tasks.in("root").set("a", { title: "t" });
    let meanwhile: (() => void) | undefined = () => void tasks.in("root").set("a", { title: "t", done: true });
    const racy = view({
      from: tasks,
      select: ({ spec }) => spec.done !== true,
      mapToSource: (object) => {
        meanwhile?.();
        meanwhile = undefined;
        return object;
      },
    });
    await using server = await serve(tasks, Task.serve(racy));
    expect((await server.send(`PATCH ${MINE}/a`, { spec: { title: "u" } }, MERGE)).status).to.equal(404);
    expect(tasks.in("root").get("a")?.spec).to.deep.include({ title: "t", done: true });
    expect((await server.get(`${TASKS}/a`)).status).to.equal(200);
  });
});
