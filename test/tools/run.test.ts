import { realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";

describe("tools/run.mjs", () => {
  /** Runs a program that runs `pwd`, started with a PWD that leads to the clone through a symbolic link. */
  async function pwdOf(options: string): Promise<string> {
    using folder = tree({});
    const link = join(folder.path, "link");
    symlinkSync(root, link);
    const script = `
      import { run } from "${root}/tools/run.mjs";
      console.log((await run("sh", ["-c", "echo $PWD"], ${options})).output);
    `;
    const { output } = await run("node", ["--input-type=module", "--eval", script], { env: { PWD: link } });
    return output;
  }

  // The Go programs among the tools, such as the compiler, take PWD for their working folder.
  it("gives the real path of the clone to programs in a clone that was entered through a symbolic link", async () => {
    expect(await pwdOf("{}")).to.equal(root);
  });

  it("gives another working folder to programs under its own path", async () => {
    using folder = tree({});
    const path = realpathSync(folder.path);
    expect(await pwdOf(JSON.stringify({ cwd: path }))).to.equal(path);
  });
});
