// A writable view of a writable view of a collection: each enforces its rules, in its own words.
import { view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { label } from "../_support/plain.ts";
import { APPLY, CHORES, Chore, chore, MERGE, mine, outcome, serve, Task } from "./lens-kinds.ts";

function chain(options: { readonly allowLeavingView?: boolean } = {}) {
  const tasks = Task.collection();
  const own = mine(tasks);
  const shown = view({
    from: own,
    to: Chore,
    select: ({ spec }) => spec.done !== true,
    map: ({ spec }) => ({ spec: { text: spec.title } }),
    mapToSource: ({ spec }, { source }) => {
      const { done = source?.spec.done } = spec;
      return { spec: { ...source?.spec, title: spec.text, ...(done === undefined ? {} : { done }) } };
    },
    ...options,
  });
  return { tasks, here: tasks.in("root"), start: () => serve(tasks, Chore.serve(shown)) };
}

describe("a writable view of a writable view", () => {
  it("writes down to the collection, and answers at the version of the top", async () => {
    const { here, start } = chain();
    await using server = await start();
    await using watch = await server.watch(`${CHORES}?watch=true`);
    const { body: made } = await server.send(`POST ${CHORES}`, chore("a", { text: "t" }));
    expect(here.get("a")?.spec).to.deep.equal({ title: "t", done: false, owner: "alice" });
    expect(await watch.next()).to.deep.equal({ type: "ADDED", object: made });
    const { body: put } = await server.send(`PUT ${CHORES}/a`, { ...made, spec: { text: "u" } });
    expect(await watch.next()).to.deep.equal({ type: "MODIFIED", object: put });
    expect((await server.send(`PUT ${CHORES}/a`, made)).status).to.equal(409);
    here.set("a", { title: "v", owner: "alice" });
    expect((await server.send(`PUT ${CHORES}/a`, put)).status).to.equal(409);
    expect((await server.send(`PATCH ${CHORES}/a`, { spec: { text: "w" } }, MERGE)).body.spec.text).to.equal("w");
    expect(await watch.take(2)).to.deep.equal(["MODIFIED a", "MODIFIED a"]);
    expect((await server.send(`DELETE ${CHORES}/a`)).status).to.equal(200);
    expect(label(await watch.next())).to.equal("DELETED a");
    expect(here.list()).to.deep.equal([]);
  });

  it("rejects a write when any view would not show the result, in the words of the top", async () => {
    const { here, start } = chain();
    await using server = await start();
    await server.send(`POST ${CHORES}`, chore("a", { text: "t" }));
    const done = await server.send(`PATCH ${CHORES}/a`, { spec: { done: true } }, MERGE);
    expect(outcome(done)).to.deep.equal([
      403,
      "Forbidden",
      'chores.view.dev "a" is forbidden: the object would leave this view with this change',
    ]);
    here.set("b", { title: "t", owner: "bob" });
    const taken = await server.send(`POST ${CHORES}`, chore("b", { text: "t" }));
    expect(outcome(taken)).to.deep.equal([409, "AlreadyExists", 'chores.view.dev "b" already exists']);
    const long = await server.send(`PATCH ${CHORES}/a`, { spec: { text: "x".repeat(30) } }, MERGE);
    expect(long.body.message).to.match(
      /^Chore\.view\.dev "a" is invalid: spec\.title: Too long: .* \(a field of .* that stores this Chore\)$/,
    );
    expect(here.get("a")?.spec.title).to.equal("t");
  });

  it("lets an object leave the top where the top allows that", async () => {
    const { here, start } = chain({ allowLeavingView: true });
    await using server = await start();
    await server.send(`POST ${CHORES}`, chore("a", { text: "t" }));
    await using watch = await server.watch(`${CHORES}?watch=true`);
    expect(label(await watch.next())).to.equal("ADDED a");
    expect((await server.send(`PATCH ${CHORES}/a`, { spec: { done: true } }, MERGE)).status).to.equal(200);
    expect(label(await watch.next())).to.equal("DELETED a");
    expect(here.get("a")?.spec.done).to.equal(true);
  });

  it("handles finalizers, field ownership and dry runs correctly", async () => {
    const { here, start } = chain();
    await using server = await start();
    const config = chore("a", { text: "t" }, { finalizers: ["test.dev/hold"] });
    const applied = await server.send(`PATCH ${CHORES}/a?fieldManager=ann`, JSON.stringify(config), APPLY);
    expect(applied.status).to.equal(201);
    expect(applied.body.metadata.managedFields[0]).to.include({ manager: "ann", operation: "Apply" });
    const dry = await server.send(`DELETE ${CHORES}/a?dryRun=All`);
    expect(dry.body.metadata).to.have.property("deletionTimestamp");
    expect(here.get("a")?.metadata).not.to.have.property("deletionTimestamp");
    await server.send(`DELETE ${CHORES}/a`);
    expect(here.get("a")?.metadata).to.have.property("deletionTimestamp");
    await server.send(`PATCH ${CHORES}/a`, { metadata: { finalizers: null } }, MERGE);
    expect(here.get("a")).to.equal(undefined);
  });
});
