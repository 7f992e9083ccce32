// Why: an export without documentation is not finished. Typedoc writes docs/reference/api from the sources, and every warning of it
// (an undocumented export, a link to nowhere, a type that is used but not exported) fails. It lives in tools/docs with a
// lock file of its own, since it needs the compiler API of TypeScript 6 beside the 7 that builds. A package reads the types
// of the lower ones from their dist/.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ensureInstalled, root } from "./install.mjs";
import { run } from "./run.mjs";

const home = join(root, "tools/docs");
await ensureInstalled(home);
const typedoc = join(home, "node_modules/typedoc/bin/typedoc");
const built = await run("tsc", ["-b", "tsconfig.build.json"]);
const document = () => run("node", [typedoc, "--options", join(root, "typedoc.json"), ...process.argv.slice(2)]);
const { ok, output } = built.ok ? await document() : built;
console.log(output);
const { entryPoints } = JSON.parse(readFileSync(join(root, "typedoc.json"), "utf8"));
const count = ok ? entryPoints.length : 0;
console.log(`docs: ${count} passed, ${entryPoints.length - count} failed`);
process.exitCode = ok ? 0 : 1;
