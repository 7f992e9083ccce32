// Why: the compiler leaves the output of deleted sources behind, and a removed module would be published with it. So what
// is built for publishing is built from nothing.
import { globSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "./install.mjs";
import { run } from "./run.mjs";

for (const dist of globSync("packages/{*,plugins/*}/dist", { cwd: root }))
  rmSync(join(root, dist), { recursive: true });
const { ok, output } = await run("tsc", ["-b", "tsconfig.build.json"]);
if (output !== "") console.log(output);
process.exitCode = ok ? 0 : 1;
