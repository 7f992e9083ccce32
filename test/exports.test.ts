// Why: what is exported is promised. A name that comes or goes shows up here as a change of exports.snapshot.json, to be
// made on purpose: `UPDATE_SNAPSHOTS=1 npm test -- test/exports.test.ts`.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { root } from "../tools/install.mjs";

const snapshot = fileURLToPath(new URL("exports.snapshot.json", import.meta.url));

/** The names that an index.ts lists; types, which do not exist when it runs, carry "type " in front. */
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

const indexes = globSync("packages/{*,plugins/*}/src/index.ts", { cwd: root }).sort();
const surfaces = indexes.map((file) => {
  const index = readFileSync(`${root}/${file}`, "utf8");
  const manifest = JSON.parse(readFileSync(`${root}/${file.replace("src/index.ts", "package.json")}`, "utf8"));
  return { name: String(manifest.name), index, names: listed(index) };
});

describe("exports", () => {
  for (const { name, index, names } of surfaces) {
    it(`of ${name} are a list written by hand, the one that runs`, async () => {
      const rest = index
        .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
        .replace(/^export (type )?\{[^}]*\} from "[^"]+";$/gm, "");
      expect(rest.trim(), "index.ts holds nothing but lists of names").to.equal("");
      const values = names.filter((entry) => !entry.startsWith("type "));
      expect(Object.keys(await import(name)).sort()).to.deep.equal(values);
    });
  }

  it("are those of the snapshot", () => {
    const now = Object.fromEntries(surfaces.map(({ name, names }) => [name, names]));
    if (process.env["UPDATE_SNAPSHOTS"] !== undefined) writeFileSync(snapshot, `${JSON.stringify(now, null, 2)}\n`);
    expect(now).to.deep.equal(JSON.parse(readFileSync(snapshot, "utf8")));
  });
});
