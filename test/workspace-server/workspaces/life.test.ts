// The life of a workspace, without a server around it: controllers over a store.
import { expect } from "chai";
import { startWorld } from "./support/world.ts";

describe("The life of a workspace", () => {
  it("goes from its scheduling to Ready, and from there to nothing", async () => {
    await using world = await startWorld();
    await world.make("one");
    const cluster = await world.phase("one", "Ready");
    expect(cluster).to.match(/^[0-9a-z]{16}$/);
    await world.delete("one");
    await world.gone("one");
    await world.until(() => world.root.state.logicalCluster(cluster) === undefined);
  });
});
