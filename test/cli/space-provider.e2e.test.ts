// `virtual-workspaces conformance --space-provider <url>`, on a provider of this project.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ConformanceReport } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { type Tree, tree } from "../_setup/tree.ts";
import { type Served, STRANGER, serve, TOKEN } from "../plugins/spaces/rest/support/served.ts";
import { KeptSpaces } from "../plugins/spaces/support/kept-spaces.ts";
import { cli, startCli } from "./support/dev.ts";

describe("virtual-workspaces conformance --space-provider", function () {
  this.timeout(60_000);
  const kept = new KeptSpaces();
  let folder: Tree;
  let served: Served;
  let given: readonly string[];

  before(async () => {
    folder = tree({});
    for (const [name, token] of Object.entries({ manager: TOKEN, stranger: STRANGER }))
      writeFileSync(join(folder.path, name), `${token}\n`);
    served = await serve(kept, { heartbeat: 100 });
    given = ["conformance", "--space-provider", served.url, "--token-file", join(folder.path, "manager")];
  });
  after(async () => {
    await served?.[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  });
  beforeEach(() => kept.set("there"));

  it("reads, with --write creates and deletes a space, and ends with 0 without a fault", async () => {
    const read = await cli(...given);
    expect(read).to.include({ code: 0, stderr: "" });
    expect(read.stdout)
      .to.include(`${served.url} (v1)\nspaces\n`)
      .and.match(/^P2 spaces$/m);
    expect([...kept.spaces.keys()]).to.deep.equal(["there"]);
    const { code, stdout } = await cli(...given, "--write", "--json");
    const report = JSON.parse(stdout) as ConformanceReport;
    expect({ code, failed: report.failed, skipped: report.skipped }).to.deep.equal({ code: 0, failed: 0, skipped: 0 });
    expect([...kept.spaces.keys()]).to.deep.equal(["there"]);
  });

  it("runs the requested checks, and ends with 1 when one fails", async () => {
    const some = await cli(...given, "--check", "P2", "--check", "P1.1", "--json");
    const { results } = JSON.parse(some.stdout) as ConformanceReport;
    expect(results.map(({ id }) => id)).to.deep.equal(["P1.1", "P2.1", "P2.2", "P2.3", "P2.4"]);
    const stranger = await cli(
      "conformance",
      "--space-provider",
      served.url,
      "--token-file",
      join(folder.path, "stranger"),
    );
    expect(stranger.code).to.equal(1);
    expect(stranger.stdout)
      .to.match(/✗ P1\.1 /)
      .and.include("managers alone may ask")
      .and.not.include(STRANGER);
    expect((await cli("conformance", "--space-provider", "http://127.0.0.1:1")).code).to.equal(1);
  });

  it("deletes its space when it is interrupted", async () => {
    kept.readyAtOnce = false;
    const { child, end } = startCli(...given, "--write");
    let looked = 0;
    kept.before = (call) => {
      if (/^get conformance-[0-9a-f]{8}$/.test(call) && ++looked === 2) child.kill("SIGINT");
    };
    const { code, stderr } = await end;
    kept.before = () => undefined;
    expect(code).to.equal(1);
    expect(stderr).to.match(/: interrupted; any object left behind is called conformance-…$/m);
    expect([...kept.spaces.keys()]).to.deep.equal(["there"]);
  });
});
