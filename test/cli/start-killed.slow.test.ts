// kubectl in several workspaces at once, with `virtual-workspaces start` killed after each part.
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { playScenario } from "../workspace-server/faults/support/scenario.ts";

describe("workspaces that kubectl works in while the server is killed again and again", () => {
  before(needsKubectl);

  it("have a tree, kinds with rules, permissions, an export in two of them and a rejected claim, each as it was made", async () => {
    await playScenario();
  }).timeout(120_000);
});
