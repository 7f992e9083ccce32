// Who met a name taken by an object that their view does not show was told whether that object is being deleted.
import { expect } from "chai";
import { MERGE, MINE, mine, outcome, serve, TASKS, Task, task } from "../framework/lens-kinds.ts";

describe("a name that is taken by what a view does not show", () => {
  it("is taken, and no more is told", async () => {
    const tasks = Task.collection();
    tasks.in("root").set("a", { title: "t", owner: "bob" });
    await using server = await serve(tasks, Task.serve(mine(tasks)));
    const create = async (user: "alice" | "bob" = "alice") =>
      outcome(await server.send(`POST ${MINE}`, task("a", { title: "t" }), { user }));
    const taken = [409, "AlreadyExists", 'tasks.test.dev "a" already exists'];
    expect(await create()).to.deep.equal(taken);
    await server.send(`PATCH ${TASKS}/a`, { metadata: { finalizers: ["test.dev/held"] } }, MERGE);
    await server.send(`DELETE ${TASKS}/a`);
    expect(await create()).to.deep.equal(taken);
    expect(await create("bob")).to.deep.equal([409, "AlreadyExists", `object is being deleted: ${taken[2]}`]);
  });
});
