// `npm run dev -- --data-dir D` from the user's side: writes with kubectl, kill -9 of all processes, and a restart that
// serves all objects.
import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { Dev } from "../cli/support/dev.ts";
import { kubectl, startKubectl } from "../go/support/kubectl.ts";
import { kubectls, needsKubectl } from "./support/kubectls.ts";

describe("npm run dev -- --data-dir", function () {
  this.timeout(60_000);
  before(needsKubectl);

  const said = async (dev: Dev, args: string): Promise<string> => {
    const { code, stdout, stderr } = await kubectl(kubectls()[0] ?? "", dev.home, args.split(" "));
    return `${code} ${stdout}${stderr}`;
  };
  const start = (folder: string): Promise<Dev> => {
    const flags = ["--port", "0", "--quiet", "--data-dir", join(folder, "data")];
    return Dev.start({ in: folder, npmRunDev: true, terminal: true, flags });
  };

  it("keeps everything that kubectl has written after kill -9 of all processes", async () => {
    using folder = tree(FILES);
    const file = (name: string): string => join(folder.path, name);
    await using dev = await start(folder.path);
    expect(await said(dev, `create -f ${file("milk.yaml")}`)).to.equal("0 note.example.dev/milk created");
    expect(await said(dev, `apply --server-side -f ${file("tea.yaml")}`)).to.equal(
      "0 note.example.dev/tea serverside-applied",
    );
    expect(await said(dev, 'patch note milk --type merge -p {"spec":{"pinned":true}}')).to.match(/^0 .* patched$/);
    const before = await said(dev, "get notes -o yaml --show-managed-fields");
    await dev.end("SIGKILL");

    await using heir = await start(folder.path);
    expect(await said(heir, "get notes -o yaml --show-managed-fields")).to.equal(before);
    expect(await said(heir, "delete note tea")).to.match(/^0 .*"tea" deleted/);
    await using watch = startKubectl(kubectls()[0] ?? "", heir.home, ["get", "notes", "--watch"]);
    await watch.until("what there is", () => watch.lines.length === 2);
    expect(await said(heir, `create -f ${file("tea.yaml")}`)).to.match(/^0 .* created$/);
    await watch.until("what came", () => watch.lines.length === 3);
    expect(watch.lines.map((line) => line.split(/\s+/)[0])).to.deep.equal(["NAME", "milk", "tea"]);
  });
});

const note = (name: string, text: string): string =>
  `apiVersion: example.dev/v1\nkind: Note\nmetadata: { name: ${name} }\nspec: { text: ${text} }\n`;
const FILES = { "milk.yaml": note("milk", "Buy milk"), "tea.yaml": note("tea", "Make tea") };
