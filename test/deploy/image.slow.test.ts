// Why: an image can lack a library, need a shell or write where it may not. The commands of the Dockerfile build its root here, and
// the command of compose.yaml runs from it.
import { chownSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { ask } from "../cli/support/views-of-workspaces.ts";
import { Container, needsNamespaces } from "./support/container.ts";
import { commandsOf, imageRoot } from "./support/image.ts";

/** Runs a program of the image. Returns its exit code and its output. */
async function ran(
  command: readonly string[],
  args: readonly string[] = [],
): Promise<readonly [number | null, string]> {
  await using container = await Container.start({ command, args });
  const { code } = await container.ended;
  return [code, container.lines.join("\n") + container.stderr];
}

describe("the container image", function () {
  this.timeout(300_000);
  before(needsNamespaces);

  it("packs from the sources in its first stage", () => {
    expect(commandsOf("packed")).to.deep.equal(["node tools/bootstrap.mjs tools/pack.mjs /tarballs"]);
    expect(commandsOf("installed")).to.have.length(2);
  });

  it("has Node.js and the command, and neither a shell nor a package manager", async () => {
    const image = await imageRoot();
    expect(readdirSync(image).sort()).to.deep.equal(
      ["app", "data", "etc", "lib", "lib64", "package.json", "readyz", "usr", "virtual-workspaces"].sort(),
    );
    for (const path of ["bin/sh", "usr/bin", "usr/local/bin/npm"])
      expect(existsSync(join(image, path)), path).to.equal(false);
    expect(await ran(["/virtual-workspaces"], ["--version"])).to.deep.equal([0, "0.1.0"]);
  });

  it("runs the command of compose.yaml with a volume alone, answers the probe, and ends by SIGTERM as process 1", async () => {
    const { services } = parse(readFileSync(join(root, "deploy/compose/compose.yaml"), "utf8"));
    const [command, ...flags] = (services.server.command as string[]).filter(
      (one) => !one.startsWith("--etcd-servers"),
    );
    using volume = tree({});
    chownSync(volume.path, 65_532, 65_532);
    await using container = await Container.start({
      args: [command ?? "", ...flags, "--bind-address=127.0.0.1", "--secure-port=0", "--experimental-bind-free-port"],
      writable: { "/data": volume.path },
    });
    await container.until("ready", () => container.port !== 0, 60_000);
    expect(container.identity()).to.deep.equal({ uid: 65_532, capabilities: 0n, init: true });
    const ca = readFileSync(join(volume.path, "apiserver.crt"));
    expect((await ask(`https://127.0.0.1:${container.port}/readyz`, { ca })).code).to.equal(200);
    expect(await ran(["/readyz"], [String(container.port)])).to.deep.equal([0, ""]);
    container.stop();
    expect((await container.ended).code).to.equal(0);
    expect(await ran(["/readyz"], [String(container.port)])).to.deep.equal([1, ""]);
    const written = readdirSync(container.written, { recursive: true, withFileTypes: true });
    expect(written.filter((one) => one.isFile() && one.name !== ".keep")).to.deep.equal([]);
  });
});
