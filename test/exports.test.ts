// Why: exports are promises. A new or missing name appears here as a change of exports.snapshot.json, which must be
// deliberate: `UPDATE_SNAPSHOTS=1 npm test -- test/exports.test.ts`.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { root } from "../tools/install.mjs";

const snapshot = fileURLToPath(new URL("exports.snapshot.json", import.meta.url));

/** Returns the names that an entry of a package exports, with the prefix "type " for types, which do not exist at run time. */
function listed(index: string): string[] {
  const lists = [...index.matchAll(/^export (type )?\{([^}]*)\} from "[^"]+";$/gm)];
  const names = lists.flatMap(([, type = "", list = ""]) =>
    list
      .split(",")
      .map((name) => name.replace(/\/\/.*$/gm, "").trim())
      .filter((name) => name !== "")
      .map((name) => type + name.replace(/^(type )?.* as /, "$1")),
  );
  return names.sort();
}

const entries = globSync("packages/{*,plugins/*}/src/{index,entry/*}.ts", { cwd: root }).sort();
const surfaces = entries.map((file) => {
  const index = readFileSync(`${root}/${file}`, "utf8");
  const [folder = "", entry = ""] = file.split("/src/");
  const manifest = JSON.parse(readFileSync(`${root}/${folder}/package.json`, "utf8"));
  const path = entry === "index.ts" ? "." : `./${basename(entry, ".ts")}`;
  return {
    name: join(String(manifest.name), path),
    path,
    file: `./src/${entry}`,
    manifest,
    index,
    names: listed(index),
  };
});

describe("exports", () => {
  for (const { name, path, file, manifest, index, names } of surfaces) {
    it(`of ${name} are at that path`, () => {
      expect(manifest.exports[path]?.["@virtual-workspaces/source"]).to.equal(file);
    });

    it(`of ${name} are listed explicitly, and match those at run time`, async () => {
      const rest = index
        .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
        .replace(/^export (type )?\{[^}]*\} from "[^"]+";$/gm, "");
      expect(rest.trim(), "an entry contains only lists of names").to.equal("");
      const values = names.filter((entry) => !entry.startsWith("type "));
      expect(Object.keys(await import(name)).sort()).to.deep.equal(values);
    });
  }

  it("match the snapshot", () => {
    const twice = surfaces.flatMap(({ manifest, names }) => names.map((each) => `${manifest.name} ${each}`));
    expect(twice.filter((each, at) => twice.indexOf(each) !== at)).to.deep.equal([]);
    const now = Object.fromEntries(surfaces.map(({ name, names }) => [name, names]));
    if (process.env["UPDATE_SNAPSHOTS"] !== undefined) writeFileSync(snapshot, `${JSON.stringify(now, null, 2)}\n`);
    expect(now).to.deep.equal(JSON.parse(readFileSync(snapshot, "utf8")));
  });
});
