// Who may read the pages of `serve` about the process.
import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { createAuthority } from "../_support/server.ts";
import { Start } from "./support/start.ts";
import { ask, MIRROR, Serve } from "./support/views-of-workspaces.ts";

describe("virtual-workspaces serve --metrics-allow-groups", () => {
  it("lets members of the groups read /metrics and nothing else", async () => {
    const authority = createAuthority();
    const { cert, key } = authority.server;
    using folder = tree({ "tls.crt": cert, "tls.key": key, "ca.crt": authority.ca });
    await using shard = await Start.ready();
    await using views = await Serve.ready([
      ...["serve", "--view", MIRROR, "--metrics-allow-groups=monitoring,operators"],
      ...["--kubeconfig", shard.path("admin.kubeconfig"), "--context", "shard-base"],
      ...["--client-ca-file", join(folder.path, "ca.crt"), "--bind-address", "127.0.0.1", "--secure-port", "0"],
      ...["--tls-cert-file", join(folder.path, "tls.crt"), "--tls-private-key-file", join(folder.path, "tls.key")],
    ]);
    const code = async (path: string, ...groups: string[]): Promise<number> => {
      const pair = authority.client("scraper", groups);
      return (await ask(`https://127.0.0.1:${views.port}${path}`, { ca: authority.ca, ...pair })).code;
    };
    for (const [group, expected] of [
      ["monitoring", [200, 403, 403]],
      ["operators", [200, 403, 403]],
      ["system:masters", [200, 200, 200]],
      ["developers", [403, 403, 403]],
    ] as const)
      expect([await code("/metrics", group), await code("/flagz", group), await code("/version", group)]).to.deep.equal(
        expected,
      );
  }).timeout(120_000);
});
