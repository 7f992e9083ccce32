// The README's program runs as printed, and real kubectl works with the README's command alone. Only the port differs.
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";
import { freePort } from "../_support/free-ports.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { Program } from "../go/support/program.ts";

const SOURCE = "--conditions=@virtual-workspaces/source";

describe("packages/framework/README.md", function () {
  this.timeout(60_000);
  before(needsKubectl);

  it("serves objects to kubectl with its program and its command, over TLS and without a warning", async () => {
    using folder = tree({});
    const port = String(await freePort());
    const readme = readFileSync(join(root, "packages/framework/README.md"), "utf8").replaceAll("6444", port);
    const [, program = ""] = /^```ts\n([\s\S]*?)^```$/m.exec(readme) ?? [];
    const [, command = "", shown = ""] = /^```console\n\$ kubectl (.*)\n([\s\S]*?)^```$/m.exec(readme) ?? [];
    symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
    const file = join(folder.path, "view.ts");
    writeFileSync(file, program);
    await using server = new Program(localNode, [SOURCE, file], { cwd: folder.path });
    await server.until("URL", () => server.lines.some((line) => line.startsWith("https:")), 30_000);
    const env = { HOME: folder.path, KUBECONFIG: join(folder.path, "none"), KUBERC: "off" };
    const { output } = await run("kubectl", command.split(" "), { cwd: folder.path, env });
    expect(output.replace(/\d+m?s$/m, "5s")).to.equal(shown.trim());
    expect(server.stderr).to.equal("");
  });
});
