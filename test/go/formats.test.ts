// Formats that client-go chooses: what its dynamic client makes of the answers.
import { expect } from "chai";
import { building } from "./support/build.ts";
import type { GoClientOptions, GoEvent } from "./support/client.ts";
import { TaskStage } from "./support/tasks.ts";

interface Told {
  readonly step: (name: string) => Partial<GoEvent>;
  readonly changes: readonly GoEvent[];
  readonly watching: GoEvent;
}

/** Returns what a client tells that writes, reads and watches tasks. */
async function formats(options: Omit<GoClientOptions, "kubeconfig">): Promise<Told> {
  await using stage = await TaskStage.start();
  await using client = stage.client("formats", options);
  await client.event("done", undefined, 30_000);
  expect(client.noise()).to.deep.equal([]);
  const watching = await client.event("watching");
  await client.end();
  const steps = new Map(client.all("step").map((told) => [told["step"], told]));
  return { step: (name) => steps.get(name) ?? {}, changes: client.all("changed"), watching };
}

const EVENTS = ["ADDED", "MODIFIED", "MODIFIED", "MODIFIED", "DELETED"];
const OBJECTS = ["create", "get", "list", "update", "merge patch", "apply"];

describe("client-go that drops managedFields", function () {
  this.timeout(60_000);
  before(building("clients"));

  it("gets none in answers and events, and its writes keep those that are stored", async () => {
    const { step, changes } = await formats({
      flags: { accept: "application/json;drop=metadata.managedFields" },
    });
    for (const name of OBJECTS) expect(step(name), name).to.include({ managed: 0, received: "application/json" });
    expect(changes.map(({ type }) => type)).to.deep.equal(EVENTS);
    for (const change of changes) expect(change).to.include({ managed: 0 });
    const { step: whole, changes: all } = await formats({ flags: { accept: "application/json" } });
    for (const name of OBJECTS) expect(whole(name)["managed"], name).to.be.above(0);
    for (const { managed } of all) expect(managed).to.be.above(0);
  });
});
