// examples/controller.ts, run as its readers run it, as a service account of the provider, with kubectl for the users.
import { needsKubectl } from "./support/kubectls.ts";
import { ours, Sites } from "./support/sites.ts";
import { play, whyViews } from "./support/sites-played.ts";

describe("examples/controller.ts", function () {
  this.timeout(180_000);
  before(needsKubectl);

  it("reconciles what users do in workspaces of root and shard-1", async () => {
    const shards = ["root", "shard-1"];
    await using sites = await Sites.ready(shards.length);
    await play(sites, ours, shards);
  });
});

describe("a service account of the provider", function () {
  this.timeout(120_000);
  before(needsKubectl);

  it("is forbidden in the workspace, and reads, watches and writes the same objects through the view", async () => {
    await using sites = await Sites.ready(1);
    await whyViews(sites);
  });
});
