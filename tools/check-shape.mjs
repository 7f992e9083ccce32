// Why: what users install is the tarball, not the repository. A wrong `exports` entry, a bin that was not built or types
// that resolve under one module resolution only are seen in what `npm pack` makes, and nowhere else.
import { copyFileSync, globSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checkContents } from "./check-contents.mjs";
import { run } from "./run.mjs";
import { linkPages } from "./see-links.mjs";

/** Packs every workspace below `root` into `folder`, each with its copy of the license and links to pages; returns the tarballs. @param {string} root @param {string} folder */
export async function pack(root, folder) {
  for (const manifest of globSync("packages/{*,plugins/*}/package.json", { cwd: root }))
    copyFileSync(join(root, "LICENSE"), join(root, dirname(manifest), "LICENSE"));
  linkPages(root);
  const packed = await run("npm", ["pack", "--workspaces", "--ignore-scripts", "--pack-destination", folder], {
    cwd: root,
  });
  if (!packed.ok) throw new Error(packed.output);
  return readdirSync(folder)
    .filter((name) => name.endsWith(".tgz"))
    .sort()
    .map((name) => join(folder, name));
}

/** The complaints of publint, attw and the check of contents about each package below `root`, as it would be published. @param {string} root */
export async function checkShape(root) {
  const folder = mkdtempSync(join(tmpdir(), "virtual-workspaces-pack-"));
  try {
    const tarballs = await pack(root, folder);
    const results = await Promise.all(
      tarballs.flatMap((tarball) => [
        run("publint", ["run", "--strict", tarball]),
        run("attw", ["--profile", "esm-only", "--no-definitely-typed", "--format", "ascii", tarball]),
      ]),
    );
    return [...results.filter(({ ok }) => !ok).map(({ output }) => output), ...(await checkContents(root))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
