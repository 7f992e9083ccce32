// examples/controller.ts, run as its readers run it, on one shard, and on two that restart meanwhile.
import { needsKubectl } from "./support/kubectls.ts";
import { ours, Sites } from "./support/sites.ts";
import { play, playRestart } from "./support/sites-played.ts";

describe("examples/controller.ts over a longer time", function () {
  this.timeout(180_000);
  before(needsKubectl);

  it("reconciles what users do in workspaces of root", async () => {
    await using sites = await Sites.ready(1);
    await play(sites, ours, ["root"]);
  });

  it("continues when all shards restart", async () => {
    await using sites = await Sites.ready(2);
    await playRestart(sites, ours);
  });
});
