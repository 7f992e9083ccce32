// Why: a project outside of the clone installs the packages as from a registry: from tarballs. `pack.mjs [folder]` builds all packages
// and writes one tarball each, by default to dist/tarballs.
import { mkdirSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pack } from "./check-shape.mjs";
import { root } from "./install.mjs";

const folder = resolve(process.argv[2] ?? join(root, "dist/tarballs"));
await import("./build.mjs");
if (!process.exitCode) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const tarballs = await pack(root, folder);
  console.log(`${tarballs.length} packages in ${relative(process.cwd(), folder) || "."}`);
}
