// A shutdown of `serve` with a delay: load balancers see it in time, and nothing is rejected meanwhile.
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { type Tree, tree } from "../_setup/tree.ts";
import { createAuthority } from "../_support/server.ts";
import { Start } from "./support/start.ts";
import { type Answer, ask, Serve } from "./support/views-of-workspaces.ts";

const FLEET_VIEWS = join(root, "test/cli/fixtures/fleet.fixture.ts");
const NOTES = "/services/notes/clusters/root/apis/example.dev/v1/notes";

describe("virtual-workspaces serve --shutdown-delay-duration", function () {
  this.timeout(120_000);
  const authority = createAuthority();
  let shard: Start;
  let folder: Tree;

  before(async () => {
    folder = tree({ "tls.crt": authority.server.cert, "tls.key": authority.server.key, "ca.crt": authority.ca });
    shard = await Start.ready();
  });

  after(async () => {
    await shard?.[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  });

  const ready = (...flags: readonly string[]): Promise<Serve> =>
    Serve.ready([
      ...["serve", "--view", FLEET_VIEWS, "--client-ca-file", join(folder.path, "ca.crt"), ...flags],
      ...["--kubeconfig", shard.path("admin.kubeconfig"), "--context", "shard-base"],
      ...["--tls-cert-file", join(folder.path, "tls.crt"), "--tls-private-key-file", join(folder.path, "tls.key")],
      ...["--bind-address", "127.0.0.1", "--secure-port", "0"],
    ]);
  const get = ({ port }: Serve, path: string): Promise<Answer> =>
    ask(`https://127.0.0.1:${port}${path}`, { ca: authority.ca, ...authority.client("root", ["system:masters"]) });

  for (const workers of [1, 2])
    it(`fails /readyz and serves during the delay, with ${workers === 1 ? "one process" : "workers"}`, async () => {
      await using server = await ready("--shutdown-delay-duration=1h", `--workers=${workers}`);
      server.signal("SIGTERM");
      while ((await get(server, "/readyz")).code !== 503);
      // Each connection goes to another worker, and each worker finds the one that serves the view.
      for (let turn = 0; turn < 4; turn++) {
        expect((await get(server, "/livez")).code).to.equal(200);
        expect((await get(server, NOTES)).code).to.equal(200);
      }
      server.signal("SIGINT");
      expect(await server.ended).to.deep.equal({ code: 1, signal: null });
    });

  for (const workers of [1, 2])
    it(`ends with 0 after the delay, with ${workers === 1 ? "one process" : "workers"}`, async () => {
      await using server = await ready("--shutdown-delay-duration=300ms", `--workers=${workers}`);
      server.signal("SIGTERM");
      expect(await server.ended).to.deep.equal({ code: 0, signal: null });
    });
});
