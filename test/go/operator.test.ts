// Small operator of controller-runtime: it adds a finalizer to tasks, performs their steps, and reports in their status.
import { expect } from "chai";
import { building } from "./support/build.ts";
import type { GoClient } from "./support/client.ts";
import { TaskStage } from "./support/tasks.ts";

const FINALIZER = "example.dev/clients";

async function settles(operator: GoClient, key: string, done: number): Promise<void> {
  await operator.event("settled", (told) => told["key"] === key && told["done"] === done, 30_000);
}

describe("an operator", function () {
  this.timeout(60_000);
  before(building("clients"));

  it("reaches its desired state step by step, and then stays idle", async () => {
    await using stage = await TaskStage.start();
    for (const name of ["a", "b", "c"]) stage.tasks.set(name, { title: name, steps: 4 });
    await using operator = stage.client("operator");
    await Promise.all(["a", "b", "c"].map((name) => settles(operator, name, 4)));
    for (const { metadata, status } of stage.tasks.list()) {
      expect(metadata).to.deep.include({ finalizers: [FINALIZER], generation: 1 });
      expect(status).to.deep.include({ phase: "Done", done: 4 });
      expect(status?.conditions?.[0]).to.include({ type: "Ready", status: "True", observedGeneration: 1 });
    }
    const writes = (): number =>
      operator.all("request").filter(({ verb }) => verb === "PUT" || verb === "PATCH").length;
    const before = writes();
    stage.tasks.set("a", { title: "a", steps: 5 });
    await settles(operator, "a", 5);
    expect(
      writes() - before,
      "one step, and the generation it has seen; a read that is behind may cost a conflict",
    ).to.be.within(2, 4);
    expect(operator.noise()).to.deep.equal([]);
    await operator.end();
  });

  it("cleans up after deleted objects, and releases them", async () => {
    await using stage = await TaskStage.start();
    stage.tasks.set("a", { title: "a" });
    await using operator = stage.client("operator");
    await settles(operator, "a", 0);
    stage.tasks.delete("a");
    expect(stage.tasks.get("a")?.metadata.deletionTimestamp, "held by the finalizer").to.be.a("string");
    await operator.event("cleaned", ({ key }) => key === "a");
    await operator.until("the answer", () => stage.tasks.get("a") === undefined);
    expect(operator.noise()).to.deep.equal([]);
    await operator.end();
  });

  it("continues through a restart of the server: it handles changes and deletions made meanwhile", async () => {
    await using stage = await TaskStage.start();
    for (const name of ["changes", "goes", "stays"]) stage.tasks.set(name, { title: name, steps: 1 });
    await using operator = stage.client("operator");
    await Promise.all(["changes", "goes", "stays"].map((name) => settles(operator, name, 1)));
    await stage.restart(() => {
      stage.tasks.set("changes", { title: "changed", steps: 3 });
      stage.tasks.delete("goes");
      stage.tasks.set("new", { title: "new", steps: 2 });
    });
    await operator.event("cleaned", ({ key }) => key === "goes", 30_000);
    await Promise.all([settles(operator, "changes", 3), settles(operator, "new", 2)]);
    await operator.until("the answer", () => stage.tasks.get("goes") === undefined);
    expect(stage.tasks.get("stays")?.status).to.include({ phase: "Done", done: 1 });
    expect(operator.noise()).to.deep.equal([]);
    await operator.end();
  });
});
