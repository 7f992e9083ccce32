// kubectl in several workspaces, while `virtual-workspaces start` is killed after each part.
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { playScenario } from "../workspace-server/faults/support/scenario.ts";

describe("workspaces on a server that is killed repeatedly", () => {
  before(needsKubectl);

  it("keep the tree, kinds with rules, permissions, an export bound in two of them, and a rejected claim", async () => {
    await playScenario();
  }).timeout(120_000);
});
