// Why: the image holds Node.js with the libraries that it loads, and the installed packages, so that a container has no shell to
// abuse and no distribution to patch. `assemble.mjs <folder with node_modules> <new root>` writes that root file system.
import { chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

/** User and group of the image, those that images without a distribution usually have. */
const USER = 65_532;

const [, , app = "", target = ""] = process.argv;
if (app === "" || target === "") throw new Error("usage: assemble.mjs <folder with node_modules> <new root>");
const root = resolve(target);

/** @param {string} from @param {string} to in the new root @param {number} mode */
function add(from, to, mode) {
  mkdirSync(dirname(join(root, to)), { recursive: true });
  copyFileSync(from, join(root, to)); // the file behind a link
  chmodSync(join(root, to), mode);
}

mkdirSync(root, { recursive: true });
add(process.execPath, "usr/local/bin/node", 0o755);
// The store's library too, so that the libraries that it needs are among the loaded ones.
createRequire(join(resolve(app), "node_modules/@virtual-workspaces/store/package.json"))("lmdb");
process.report.excludeNetwork = true;
const { sharedObjects } = process.report.getReport();
for (const library of sharedObjects)
  if (library.startsWith("/") && !library.startsWith(resolve(app))) add(library, library.slice(1), 0o755);
cpSync(join(app, "node_modules"), join(root, "app/node_modules"), { recursive: true, verbatimSymlinks: true });
for (const program of ["virtual-workspaces", "readyz"]) add(join(import.meta.dirname, program), program, 0o755);
const files = {
  "etc/passwd": `root:x:0:0::/:\nvirtual-workspaces:x:${USER}:${USER}::/data:\n`,
  "etc/group": `root:x:0:\nvirtual-workspaces:x:${USER}:\n`,
  // Programs without an extension in this folder are ECMAScript modules.
  "package.json": '{ "type": "module" }\n',
};
for (const [name, text] of Object.entries(files)) {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}
// Written by `start` and `agent` only, on a volume. A volume that an engine creates takes the owner from here.
mkdirSync(join(root, "data"));
if (process.getuid?.() === 0) chownSync(join(root, "data"), USER, USER);
