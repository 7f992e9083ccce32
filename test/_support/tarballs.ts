// The packages as `npm publish` uploads them, built once for all tests that read the same sources.
import { createHash } from "node:crypto";
import { cpSync, existsSync, globSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";
import { cloneTo } from "./linked-clone.ts";

/** Files whose content decides that of the tarballs. */
const SOURCES = [
  "LICENSE",
  "package*.json",
  "tsconfig*.json",
  "tools/{build,check-shape,console,install,pack,run}.mjs",
  "packages/{*,plugins/*}/{package.json,tsconfig.json,README.md}",
  "packages/{*,plugins/*}/src/**/*",
  "packages/create-virtual-workspace/templates/**/*",
  "packages/plugins/console/app/**/*",
];

function hashOfSources(): string {
  const hash = createHash("sha256");
  for (const { name, parentPath } of globSync(SOURCES, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .sort((a, b) => (join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1)))
    hash.update(join(parentPath, name).slice(root.length)).update(readFileSync(join(parentPath, name)));
  return hash.digest("hex").slice(0, 16);
}

/** Returns the paths of the tarballs of all packages. Builds in a copy, so that tests that build may run at the same time. */
export async function tarballs(): Promise<readonly string[]> {
  const cache = join(root, "node_modules/.cache/tarballs");
  const folder = join(cache, hashOfSources());
  if (!existsSync(folder)) {
    using copy = tree({});
    const clone = join(copy.path, "clone");
    cloneTo(clone);
    const packed = join(clone, "dist/tarballs");
    const { ok, output } = await run("node", [join(clone, "tools/pack.mjs"), packed], { cwd: clone });
    if (!ok) throw new Error(output);
    moveTo(packed, folder);
  }
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));
}

/** Moves a folder to its place in one step. Another process may have been first, with the same content. */
export function moveTo(from: string, to: string): void {
  const near = `${to}.${process.pid}`;
  cpSync(from, near, { recursive: true, verbatimSymlinks: true });
  try {
    renameSync(near, to);
  } catch (error) {
    rmSync(near, { recursive: true });
    if (!existsSync(to)) throw error;
  }
}
