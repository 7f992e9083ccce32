// A create with a name that a hidden object had taken revealed whether that object was being deleted.
import { expect } from "chai";
import { MERGE, MINE, mine, outcome, serve, TASKS, Task, task } from "../framework/lens-kinds.ts";

describe("a name that is taken by an object outside the view", () => {
  it("is taken, and the answer reveals nothing else", async () => {
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
