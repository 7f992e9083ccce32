// examples/polled/recipes.ts with real kubectl: files and objects agree, also when people and clients change both at once.
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { recipesIn } from "../../examples/polled/recipes.ts";
import { type Tree, tree } from "../_setup/tree.ts";
import { type KubeconfigHome, kubeconfigHome, startTls, type TlsServer } from "../_support/server.ts";
import { until } from "../_support/until.ts";
import { kubectl, type Output, startKubectl } from "../go/support/kubectl.ts";
import { kubectls, needsKubectl } from "./support/kubectls.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 12);
/** Objects that each of the writers makes in a round. */
const EACH = 5;

describe("examples/polled/recipes.ts", function () {
  this.timeout(240_000);
  const [file = ""] = kubectls();
  let folder: Tree;
  let server: TlsServer;
  let home: KubeconfigHome;

  before(needsKubectl);
  beforeEach(async () => {
    folder = tree({});
    server = await startTls([recipesIn(folder.path, 20)]);
    const { authority, port } = server;
    home = await kubeconfigHome({ authority, port, contexts: { recipes: "/services/recipes/clusters/root" } });
    await until(async () => (await run("get", "recipes")).code === 0 || undefined);
  });
  afterEach(async () => {
    await server.close();
    home[Symbol.dispose]();
    folder[Symbol.dispose]();
  });

  const run = (...args: readonly string[]): Promise<Output> => kubectl(file, home, args);
  const outputOf = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args);
    expect(code, `${args.join(" ")}: ${stderr}`).to.equal(0);
    return stdout;
  };
  const pathOf = (name: string): string => join(folder.path, `${name}.yaml`);
  const stored = (name: string) => parse(readFileSync(pathOf(name), "utf8"));
  const files = (): string[] =>
    readdirSync(folder.path)
      .filter((name) => !name.startsWith("."))
      .sort();

  /** Puts a file into the folder as careful programs do, at once and whole. */
  function put(name: string, text: string): void {
    const draft = join(folder.path, `.${name}.put`);
    writeFileSync(draft, text);
    renameSync(draft, pathOf(name));
  }
  const drop = (name: string, title: string): void => put(name, `spec:\n  title: ${title}\n`);

  /** Writes a manifest beside the folder, and returns its path. */
  function manifest(name: string, recipes: Readonly<Record<string, string>>): string {
    const path = join(home.home, `${name}.yaml`);
    const documents = Object.entries(recipes).map(
      ([recipe, title]) =>
        `apiVersion: example.dev/v1\nkind: Recipe\nmetadata:\n  name: ${recipe}\nspec:\n  title: ${title}\n`,
    );
    writeFileSync(path, documents.join("---\n"));
    return path;
  }

  it("shows files that appear, change and disappear in kubectl get -w", async () => {
    const args = ["get", "recipes", "-w", "--output-watch-events", "--no-headers", "-o"];
    const columns = "custom-columns=TYPE:.type,NAME:.object.metadata.name,TITLE:.object.spec.title";
    await using watch = startKubectl(file, home, [...args, columns]);
    const lines = async (count: number): Promise<string[]> => {
      await watch.until(`${count} lines`, () => watch.lines.length >= count || undefined, 60_000);
      return watch.lines.map((line) => line.replace(/ +/g, " ").trim());
    };
    drop("soup", "Soup");
    expect(await lines(1)).to.deep.equal(["ADDED soup Soup"]);
    drop("soup", "Stew");
    expect(await lines(2)).to.include("MODIFIED soup Stew");
    rmSync(pathOf("soup"));
    expect(await lines(3)).to.include("DELETED soup Stew");
  });

  it("writes files for apply, edit, label and delete, and keeps what people have written beside", async () => {
    expect(await outputOf("apply", "-f", manifest("first", { soup: "Soup" }))).to.equal(
      "recipe.example.dev/soup created",
    );
    expect(stored("soup").spec).to.deep.equal({ title: "Soup" });
    expect(await outputOf("apply", "-f", manifest("first", { soup: "Soup" }))).to.match(/unchanged$/);
    put("soup", readFileSync(pathOf("soup"), "utf8").replace(/^spec:/m, "spec:\n  minutes: 30"));
    expect(await outputOf("label", "recipe", "soup", "diet=vegan")).to.equal("recipe.example.dev/soup labeled");
    expect(await outputOf("apply", "-f", manifest("first", { soup: "Stew" }))).to.match(/configured$/);
    expect(stored("soup").spec).to.deep.equal({ title: "Stew", minutes: 30 });
    expect(stored("soup").metadata.labels).to.deep.equal({ diet: "vegan" });
    const editing = { ...home, env: { KUBE_EDITOR: "sed -i s/Stew/Ragout/" } };
    const edited = await kubectl(file, editing, ["edit", "recipe", "soup"]);
    expect(edited.stdout).to.equal("recipe.example.dev/soup edited");
    expect(stored("soup").spec).to.deep.equal({ title: "Ragout", minutes: 30 });
    expect(await outputOf("delete", "recipe", "soup")).to.match(/ deleted/);
    expect(files()).to.deep.equal([]);
  });

  it("answers 409 to a replace of a file that has changed since", async () => {
    drop("soup", "Soup");
    await until(async () => (await run("get", "recipe", "soup")).code === 0 || undefined);
    const seen = join(home.home, "seen.yaml");
    writeFileSync(seen, await outputOf("get", "recipe", "soup", "-o", "yaml"));
    drop("soup", "Stew");
    expect((await run("replace", "-f", seen)).stderr).to.match(/\(Conflict\).*the object has been modified/s);
    expect(stored("soup").spec.title).to.equal("Stew");
  });

  it(`loses nothing in ${ROUNDS} rounds of files, applies and deletes at once`, async () => {
    await using watch = startKubectl(file, home, [
      ...["get", "recipes", "-w", "--output-watch-events", "-o"],
      "jsonpath={.type} {.object.metadata.name} {.object.spec.title}{'\\n'}",
    ]);
    const expected = new Map<string, string>();
    const named = (kind: string, round: number): string[] =>
      Array.from({ length: EACH }, (_, at) => `${kind}-${round}-${at}`);
    for (let round = 1; round <= ROUNDS; round++) {
      const applied = Object.fromEntries(named("applied", round).map((name) => [name, `A ${name}`]));
      const dropped = named("dropped", round);
      // Files and objects of the round before, which the other side removes.
      const byKubectl = round === 1 ? [] : [`dropped-${round - 1}-0`, `applied-${round - 1}-0`];
      const byHand = round === 1 ? [] : [`dropped-${round - 1}-1`, `applied-${round - 1}-1`];
      const rewritten = round === 1 ? [] : [`applied-${round - 1}-2`, `dropped-${round - 1}-2`];
      const dropAll = async (): Promise<void> => {
        for (const name of byHand) rmSync(pathOf(name));
        for (const name of rewritten) drop(name, `R ${name}`);
        for (const name of dropped) {
          drop(name, `D ${name}`);
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      const [, ...outputs] = await Promise.all([
        dropAll(),
        outputOf("apply", "-f", manifest(`round-${round}`, applied)),
        ...(byKubectl.length === 0 ? [] : [outputOf("delete", "recipes", ...byKubectl)]),
      ]);
      expect(outputs[0]?.split("\n")).to.have.length(EACH);
      for (const [name, title] of Object.entries(applied)) expected.set(name, title);
      for (const name of dropped) expected.set(name, `D ${name}`);
      for (const name of rewritten) expected.set(name, `R ${name}`);
      for (const name of [...byKubectl, ...byHand]) expected.delete(name);
      // A kubectl that deletes needs the file to be served.
      await until(async () => (await run("get", "recipe", ...dropped)).code === 0 || undefined);
    }
    const sorted = [...expected].sort(([one], [other]) => (one < other ? -1 : 1));
    expect(files()).to.deep.equal(sorted.map(([name]) => `${name}.yaml`));
    for (const [name, title] of sorted) expect(stored(name).spec.title).to.equal(title);
    const listed = await outputOf(
      "get",
      "recipes",
      "-o",
      "jsonpath={range .items[*]}{.metadata.name}={.spec.title}{'\\n'}{end}",
    );
    expect(listed.trim().split("\n")).to.deep.equal(sorted.map(([name, title]) => `${name}=${title}`));
    drop("end", "End");
    await watch.until("the end", () => watch.lines.at(-1)?.startsWith("ADDED end ") || undefined, 60_000);
    const state = new Map<string, string>();
    for (const line of watch.lines.slice(0, -1)) {
      const [, type, name = "", title = ""] = /^(\S+) (\S+) (.*)$/.exec(line) ?? [];
      if (type === "DELETED") state.delete(name);
      else state.set(name, title);
    }
    expect([...state].sort(([one], [other]) => (one < other ? -1 : 1))).to.deep.equal(sorted);
  });
});
