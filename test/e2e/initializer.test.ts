// examples/initializer.ts, run as its readers run it, as a service account of the provider, and kubectl as the users.
import { needsKubectl } from "./support/kubectls.ts";
import { ours, Teams } from "./support/teams.ts";
import { play, whyViews } from "./support/teams-played.ts";

describe("examples/initializer.ts", function () {
  this.timeout(180_000);
  before(needsKubectl);

  it("sets up what users make, and sees to what they delete, on two shards", async () => {
    await using teams = await Teams.ready(2);
    await play(teams, ours, ["root", "shard-1"]);
  });

  it("is refused in the workspace, and may there through the view what the type says, while it waits", async () => {
    await using teams = await Teams.ready(1);
    await whyViews(teams, ours);
  });
});
