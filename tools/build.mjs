// Why: the compiler leaves the output of deleted sources behind, and a removed module would be published with it. So what
// is built for publishing is built from nothing. Each package gets its copy of the license, which npm then packs.
import { copyFileSync, globSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./install.mjs";
import { run } from "./run.mjs";

for (const dist of globSync("packages/{*,plugins/*}/dist", { cwd: root }))
  rmSync(join(root, dist), { recursive: true });
for (const manifest of globSync("packages/{*,plugins/*}/package.json", { cwd: root }))
  copyFileSync(join(root, "LICENSE"), join(root, dirname(manifest), "LICENSE"));
const { ok, output } = await run("tsc", ["-b", "tsconfig.build.json"]);
if (output !== "") console.log(output);
process.exitCode = ok ? 0 : 1;
