import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";

const home = join(root, "test/go");
const modules = readdirSync(home).filter((folder) => existsSync(join(home, folder, "go.mod")));

describe("Go sources", function () {
  this.timeout(300_000); // the first vet compiles their dependencies

  it("are formatted", async () => {
    expect(await run("gofmt", ["-l", home])).to.deep.equal({ ok: true, output: "" });
  });

  for (const module of modules) {
    it(`of ${module} pass go vet`, async () => {
      const { ok, output } = await run("go", ["vet", "./..."], { cwd: join(home, module) });
      expect(ok, output).to.equal(true);
    });
  }
});
