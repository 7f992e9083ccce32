// Why: what a tool can put right, nobody should have to: format, order of imports, safe fixes.
import { run } from "./run.mjs";

const { ok, output } = await run("biome", ["check", "--write", ...process.argv.slice(2)]);
console.log(output);
process.exitCode = ok ? 0 : 1;
