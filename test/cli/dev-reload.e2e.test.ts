// Reload on save: a new process takes over before the old one stops, and a module that fails to load changes nothing.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { startKubectl } from "../go/support/kubectl.ts";
import { Dev } from "./support/dev.ts";
import { viewText } from "./support/views.ts";

const NOTES = "/services/note/clusters/root/apis/test.dev/v1/notes";

describe("virtual-workspaces dev reloads", function () {
  this.timeout(30_000);

  const text = async (dev: Dev): Promise<string> =>
    (JSON.parse((await dev.get(`${NOTES}/one`)).body) as { spec: { text: string } }).spec.text;
  const reloaded = (dev: Dev, times = 1): Promise<void> => dev.until(/^Reloaded in \d+\.\d\d s: .*changed$/m, times);

  it("a saved module on the same port, and ends open watches cleanly", async function () {
    needsKubectl.call(this);
    await using dev = await Dev.start({ files: { "note.ts": viewText() } });
    const { url } = dev;
    await using watch = startKubectl("kubectl", dev.home, ["get", "notes", "--watch"]);
    await watch.until("the object", () => watch.lines.length === 2);
    dev.save("note.ts", viewText({ text: "second" }));
    await reloaded(dev);
    expect(await text(dev)).to.equal("second");
    expect(dev.url).to.equal(url);
    expect([(await watch.ended).code, watch.stderr]).to.deep.equal([0, ""]);
  });

  it("without losing a request", async () => {
    await using dev = await Dev.start({ files: { "note.ts": viewText() }, flags: ["--port", "0", "--quiet"] });
    const codes = new Set<number>();
    let asking = true;
    const ask = async (): Promise<void> => {
      while (asking) codes.add((await dev.get(`${NOTES}/one`)).code);
    };
    const askers = [ask(), ask(), ask()];
    for (const times of [1, 2, 3]) {
      dev.save("note.ts", viewText({ text: `save ${times}` }));
      await reloaded(dev, times);
      expect(await text(dev)).to.equal(`save ${times}`);
    }
    asking = false;
    await Promise.all(askers);
    expect([...codes]).to.deep.equal([200]);
  });

  it("an imported module, and modules that are added or removed, with the kubeconfig", async () => {
    const importing = `import { word } from "./word.mts";\n${viewText().replace('"first"', "word")}`;
    await using dev = await Dev.start({
      files: { "note.ts": importing, "word.mts": 'export const word = "imported";' },
    });
    expect(await text(dev)).to.equal("imported");
    dev.save("word.mts", 'export const word = "changed";');
    await reloaded(dev);
    expect(await text(dev)).to.equal("changed");

    dev.save("task.ts", viewText({ name: "task" }));
    await reloaded(dev, 2);
    expect(dev.text).to.include("\n  task  /services/task/clusters/root  tasks\n");
    const contexts = () => readFileSync(join(dev.state, "admin.kubeconfig"), "utf8").match(/(?<=cluster: ").*(?=")/g);
    expect(contexts()).to.deep.equal(["dev", "guest", "note", "task"]);

    rmSync(join(dev.folder.path, "task.ts"));
    await reloaded(dev, 3);
    expect(contexts()).to.deep.equal(["dev", "guest", "note"]);
  });

  it("no module that fails to load, and prints the problem", async () => {
    await using dev = await Dev.start({ files: { "note.ts": viewText() } });
    for (const [broken, why] of [
      ["export default {;", /cannot serve the changed file .*note\.ts:\n[\s\S]*SyntaxError/],
      ["export {}; throw new Error('no luck');", /Error: no luck/],
      ['import "./missing.ts";', /Cannot find module '.*missing\.ts'/],
      [viewText({ more: "setup: () => { throw new Error('no set-up'); }," }), /Error: no set-up/],
      ["export const nothing = 1;", /has no module whose default export is a view/],
    ] as const) {
      dev.save("note.ts", broken);
      await dev.until(why);
      expect(await text(dev)).to.equal("first");
    }
    expect(dev.lines(/^Reloaded/)).to.deep.equal([]);
    dev.save("note.ts", viewText({ text: "mended" }));
    await reloaded(dev);
    expect(await text(dev)).to.equal("mended");
  });

  it("after the serving process has died of a fault in a view", async () => {
    await using dev = await Dev.start({ files: { "note.ts": viewText() } });
    const { url } = dev;
    dev.save("note.ts", viewText({ after: "setTimeout(() => { throw new Error('late'); }, 500);" }));
    await dev.until(
      /Error: late[\s\S]*the serving process of virtual-workspaces dev ended unexpectedly \(1\): save a file to start it again/,
    );
    dev.save("note.ts", viewText({ text: "revived" }));
    await reloaded(dev, 2);
    expect(await text(dev)).to.equal("revived");
    expect(dev.url).to.equal(url);
  });
});
