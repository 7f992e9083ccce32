// A worker that ends repeatedly is not restarted forever.
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { createAuthority } from "../_support/server.ts";
import { Start } from "./support/start.ts";
import { Serve } from "./support/views-of-workspaces.ts";

describe("virtual-workspaces serve with a worker that ends repeatedly", () => {
  it("ends with a message", async () => {
    const authority = createAuthority();
    using folder = tree({ "tls.crt": authority.server.cert, "tls.key": authority.server.key });
    await using shard = await Start.ready();
    await using serving = new Serve([
      ...["--view", join(root, "test/cli/fixtures/ends-soon.fixture.ts"), "--workers", "2"],
      ...["--kubeconfig", shard.path("admin.kubeconfig"), "--context", "shard-base"],
      ...["--tls-cert-file", join(folder.path, "tls.crt"), "--tls-private-key-file", join(folder.path, "tls.key")],
      ...["--bind-address", "127.0.0.1", "--secure-port", "0"],
    ]);
    expect(await serving.ended).to.deep.equal({ code: 1, signal: null });
    expect(serving.stderr).to.match(
      /^virtual-workspaces serve: a worker ended 4 times in a row, .* the last time with 3/m,
    );
  }).timeout(120_000);
});
