// Why: documentation is a site that one command builds, and an export without documentation is not finished: a warning of typedoc
// (an undocumented export, a link to nowhere, a type that is used but not exported) fails. The tools of it live in tools/docs with a lock
// file of their own, since typedoc needs the compiler API of TypeScript 6 beside the 7 that builds. `docs.mjs` builds dist/docs;
// `--serve [--port=<number>]` serves it afterwards; `--repository=<URL>` is where "Edit this page" leads.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureInstalled, root } from "./install.mjs";

const { values } = parseArgs({
  options: {
    serve: { type: "boolean", default: false },
    port: { type: "string", default: "4173" },
    repository: { type: "string" },
  },
});
const port = Number(values.port);
if (!(Number.isInteger(port) && port >= 0 && port < 65_536))
  throw new Error(`invalid --port "${values.port}": use a number from 0 to 65535`);

await ensureInstalled(join(root, "tools/docs"));
const { buildSite } = await import("./docs/build.mjs");
const out = join(root, "dist/docs");
const { faults, modules, seconds } = await buildSite({
  root,
  pages: join(root, "dist/docs-pages"),
  out,
  repository: values.repository,
});
for (const fault of faults) console.log(fault);
for (const [step, spent] of Object.entries(seconds))
  console.log(`${step.padEnd(10)} ${spent.toFixed(1).padStart(5)} s`);
// Each module of the API reference, and the site.
console.log(`docs: ${faults.length === 0 ? modules + 1 : modules} passed, ${faults.length === 0 ? 0 : 1} failed`);
process.exitCode = faults.length === 0 ? 0 : 1;

if (values.serve && faults.length === 0) {
  const { serveSite } = await import("./docs/serve.mjs");
  const { url } = await serveSite({ folder: out, port });
  console.log(`\nThe documentation is served at ${url} until you press Ctrl-C.`);
}
