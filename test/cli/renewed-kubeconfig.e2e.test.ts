// The token in a kubeconfig file is renewed while `virtual-workspaces` runs with it.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { createAuthority } from "../_support/server.ts";
import { until } from "../_support/until.ts";
import { Start } from "./support/start.ts";
import { ask, Serve, USERS } from "./support/views-of-workspaces.ts";

describe("a kubeconfig whose token is renewed", function () {
  this.timeout(60_000);

  it("is read again once the server rejects the token, without a restart", async () => {
    await using shard = await Start.ready({ files: USERS, flags: ["--run-virtual-workspaces=false"] });
    const authority = createAuthority();
    const { cert, key } = authority.server;
    using folder = tree({ "ca.crt": authority.ca, "tls.crt": cert, "tls.key": key });
    const file = (name: string): string => join(folder.path, name);
    const good = shard.text("admin.kubeconfig");
    const write = (text: string): void => {
      writeFileSync(file("next"), text);
      renameSync(file("next"), file("kubeconfig"));
    };
    write(good.replaceAll(shard.token("shard-admin"), "a-token-of-yesterday"));
    await using views = await Serve.ready([
      ...["--kubeconfig", file("kubeconfig"), "--context", "shard-base", "--client-ca-file", file("ca.crt")],
      ...["--tls-cert-file", file("tls.crt"), "--tls-private-key-file", file("tls.key")],
      ...["--bind-address", "127.0.0.1", "--secure-port", "0"],
    ]);
    const asked = async (path: string): Promise<number> =>
      (
        await ask(`https://127.0.0.1:${views.port}${path}`, {
          ca: authority.ca,
          ...authority.client("m", ["system:masters"]),
        })
      ).code;
    expect(await asked("/readyz/apiexport")).to.equal(503);
    expect(await asked("/services/apiexport/root/widgets/clusters/*/apis")).to.equal(503);
    write("users: [");
    expect(await asked("/readyz/apiexport")).to.equal(503);
    write(good);
    await until(async () => (await asked("/readyz/apiexport")) === 200, { what: "readiness" });
    expect(views.stderr).to.not.include("a-token-of-yesterday");
    write(good.replaceAll(shard.url, "https://127.0.0.1:1"));
    await until(
      async () => {
        await asked("/services/apiexport/root/widgets/clusters/*/apis");
        return /warn +server of the kubeconfig has changed: restart to use it kubeconfig=/.test(views.stderr);
      },
      { what: "the warning" },
    );
    expect(await asked("/readyz/apiexport")).to.equal(200);
  });
});
