// examples/initializer.ts, run as its readers run it, as a service account of the provider, with kubectl for the users.
import { needsKubectl } from "./support/kubectls.ts";
import { ours, Teams } from "./support/teams.ts";
import { play, whyViews } from "./support/teams-played.ts";

describe("examples/initializer.ts", function () {
  this.timeout(180_000);
  before(needsKubectl);

  it("sets up new workspaces of users, and cleans up deleted ones, on two shards", async () => {
    await using teams = await Teams.ready(2);
    await play(teams, ours, ["root", "shard-1"]);
  });

  it("is forbidden in the workspace, and has the rights of the type through the view while the workspace waits", async () => {
    await using teams = await Teams.ready(1);
    await whyViews(teams, ours);
  });
});
