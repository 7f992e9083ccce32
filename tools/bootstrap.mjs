// Why: every npm script starts here, so that each works as the first command in a fresh clone and none asks for another
// Node. `bootstrap.mjs <entry> [arguments]` installs what is missing, then runs the entry on Node 24 from source.
// Once all is in place npm's PATH already leads to Node 24, and the entry is imported into this very process.
import { spawn } from "node:child_process";
import module from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ensureInstalled, localNode, requireNode24, root } from "./install.mjs";

const SOURCE = "--conditions=@virtual-workspaces/source"; // our packages resolve to src/*.ts, not to dist/
const ready = Number.parseInt(process.versions.node, 10) >= 24 && process.execArgv.includes(SOURCE);

await ensureInstalled(root);
if (ready) await run();
else delegate();

/** Runs the entry here, with compiled code cached from one start to the next: its own, and that of the processes it starts. */
async function run() {
  endWithParent();
  const [bootstrap, entry, ...args] = process.argv.slice(1);
  if (entry === undefined) throw new Error(`usage: ${bootstrap} <entry> [arguments]`);
  process.env["NODE_COMPILE_CACHE"] = join(root, "node_modules/.cache/compile");
  module.enableCompileCache();
  const path = resolve(root, entry);
  process.argv.splice(1, process.argv.length - 1, path, ...args);
  await import(pathToFileURL(path).href);
}

/** Ends this process as abruptly as `delegate` was killed, which could not say so. */
function endWithParent() {
  if (process.channel === undefined) return;
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.channel.unref(); // it does not keep the process running
}

/** Runs this same script on the installed Node; its signals and its end are ours, and it does not outlive this process. */
function delegate() {
  requireNode24();
  const args = [SOURCE, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const shell = process.platform === "win32";
  // The channel closes when this process is killed. A shell does not pass it on.
  /** @type {import("node:child_process").StdioOptions} */
  const stdio = shell ? "inherit" : ["inherit", "inherit", "inherit", "ipc"];
  const child = spawn(localNode, args, { stdio, shell });
  // A terminal sends Ctrl-C to the whole group: sending it on as well would look like an impatient second one.
  process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
  for (const signal of ["SIGTERM", "SIGHUP"])
    process.on(signal, () => child.kill(/** @type {NodeJS.Signals} */ (signal)));
  child.once("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
