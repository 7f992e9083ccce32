// client-go's informer reaches another process with each request, while these are killed one after another.
import { expect } from "chai";
import { kubeconfigHome } from "../_support/server.ts";
import { Fleet } from "../cli/support/fleet.ts";
import { Notes } from "../cli/support/fleet-client.ts";
import { building } from "./support/build.ts";
import { GoClient } from "./support/client.ts";

describe("replicas with workers that are killed", function () {
  this.timeout(180_000);
  before(building("clients"));

  it("client-go's informer misses no change", async () => {
    await using fleet = await Fleet.ready({ replicas: 2, workers: 2 });
    const notes = new Notes(fleet);
    const { authority, balancer } = fleet;
    using home = await kubeconfigHome({
      ...{ authority, port: balancer.port, user: "alice", token: "root-token" },
      contexts: { notes: "/services/notes/clusters/root" },
    });
    for (const name of ["stays", "goes-0"]) await notes.make(name);
    const flags = { resource: "notes.v1.example.dev" };
    await using informer = GoClient.start("informer", { ...home, flags });
    const names = new Set(["stays", "goes-0"]);
    const holds = (): Promise<unknown> =>
      informer.until(
        `exactly ${[...names].join(", ")}`,
        () =>
          informer.objects.size === names.size && [...names].every((name) => informer.objects.has(`default/${name}`)),
        60_000,
      );
    await informer.event("synced", undefined, 30_000);
    await holds();
    for (const [at, { pid }] of (await fleet.workers()).entries()) {
      process.kill(pid, "SIGKILL");
      await done(() => notes.make(`goes-${at + 1}`), [201, 409]);
      await done(() => notes.send("DELETE", `/goes-${at}`), [200, 404]);
      names.delete(`goes-${at}`);
      names.add(`goes-${at + 1}`);
      await holds();
    }
    const { body } = await notes.send("GET");
    expect(new Set(body.items.map(({ metadata }) => metadata.name))).to.deep.equal(names);
    await fleet.workers();
    await notes.make("last");
    names.add("last");
    await holds();
    expect(informer.all("bad-frame")).to.deep.equal([]);
  });
});

/** Repeats a write until its outcome is known, because a missing answer says nothing. */
async function done(write: () => Promise<{ readonly code: number }>, codes: readonly number[]): Promise<void> {
  for (let code = 0; !codes.includes(code); ) code = (await write()).code;
}
