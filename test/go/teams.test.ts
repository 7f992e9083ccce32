// Go twin of examples/initializer.ts: the same users see the same results, also when both run.
import { expect } from "chai";
import type { StartController } from "../e2e/support/provided.ts";
import { ours, Teams } from "../e2e/support/teams.ts";
import { play } from "../e2e/support/teams-played.ts";
import { building } from "./support/build.ts";
import { GoClient } from "./support/client.ts";

const twin: StartController = (kubeconfig) => GoClient.start("teams", { kubeconfig });

describe("the Go twin of examples/initializer.ts", function () {
  this.timeout(180_000);
  before(building("clients"));

  it("sets up new workspaces and handles deletions, on two shards, alone and beside ours", async () => {
    await using teams = await Teams.ready(2);
    await play(teams, twin, ["root", "shard-1"]);
    await using one = GoClient.start("teams", { kubeconfig: teams.account });
    await using other = ours(teams.account);
    const clusters = new Map<string, string>();
    const names = ["a", "b", "c", "d"];
    for (const [at, name] of names.entries()) await teams.make(name, at % 2 === 0 ? "root" : "shard-1");
    for (const name of names) clusters.set(name, await teams.settled(name));
    for (const name of names) {
      await teams.write(name, name);
      await teams.leave(name);
    }
    for (const [name, cluster] of clusters) await teams.kept(name, cluster, name);
    expect(one.all("failed")).to.deep.equal([]);
    other.signal("SIGTERM");
    expect((await other.ended).code).to.equal(0);
    expect(other.stderr).to.equal("");
  });
});
