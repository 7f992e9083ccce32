// Why: the compiler leaves the output of deleted sources behind, and a removed module would be published with it. So what
// is built for publishing is built from nothing. The page of the console is whole already, and servers may be reading it.
import { globSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { consoleOutput, ensureConsole } from "./console.mjs";
import { root } from "./install.mjs";
import { run } from "./run.mjs";

for (const dist of globSync("packages/{*,plugins/*}/dist", { cwd: root }))
  for (const entry of readdirSync(join(root, dist))) {
    const path = join(root, dist, entry);
    if (!consoleOutput.includes(path)) rmSync(path, { recursive: true });
  }
const results = await Promise.all([run("tsc", ["-b", "tsconfig.build.json"]), ensureConsole()]);
for (const { output } of results) if (output !== "") console.log(output);
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
