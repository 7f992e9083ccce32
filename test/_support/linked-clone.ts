// A copy of the repository as it is now, commits or not, in which a test may build, edit and commit.
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "../../tools/install.mjs";

/** Names that belong to one clone: what is installed, built or kept. */
const OWN: ReadonlySet<string> = new Set([".git", "node_modules", "dist", ".kcp", ".virtual-workspaces"]);

/** Copies the repository to `folder`. Its dependencies are links to ours; its packages are its own. */
export function cloneTo(folder: string): void {
  cpSync(root, folder, { recursive: true, filter: (path) => path === root || !OWN.has(basename(path)) });
  for (const home of ["", "packages/cli", "tools/language"]) linkDependencies(home, folder);
}

function linkDependencies(home: string, folder: string): void {
  const [from, to] = [join(root, home, "node_modules"), join(folder, home, "node_modules")];
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name === ".cache") continue;
    if (name !== "@virtual-workspaces" && name !== "virtual-workspaces") symlinkSync(join(from, name), join(to, name));
    // Relative links, which lead to the packages of the copy.
    else cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
  }
}
