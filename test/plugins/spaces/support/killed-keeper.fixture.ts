// A provider of processes that is killed before or after one of its operations on files and processes.
import childProcess from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [directory = "", left = "", when = ""] = process.argv.slice(2);
let lives = Number(left);

function mortal<T extends object>(module: T, ...names: readonly (keyof T)[]): void {
  for (const name of names) {
    const does = module[name] as (...args: unknown[]) => unknown;
    const dies = (...args: unknown[]): unknown => {
      // Node.js uses the same functions to load modules.
      const counts = name === "spawn" || String(args[0]).startsWith(directory);
      const last = counts && lives-- === 0;
      if (last && when === "before") process.kill(process.pid, "SIGKILL");
      const answer = does(...args);
      if (last) process.kill(process.pid, "SIGKILL");
      return answer;
    };
    Object.assign(module, { [name]: dies });
  }
}

mortal(fs, "mkdirSync", "mkdtempSync", "writeFileSync", "renameSync", "linkSync", "rmSync", "openSync");
mortal(childProcess, "spawn");
syncBuiltinESMExports();
const { processesProvider } = await import("@virtual-workspaces/spaces");
const { idleIn, Opened } = await import("./processes.ts");
const type = processesProvider({ directory, command: idleIn, checkEvery: 25, keep: true });
const provider = new Opened(
  await type.open({ name: "here", secret: {}, log: () => undefined, signal: new AbortController().signal }),
);
await provider.create("shop");
await provider.until("shop", () => fs.existsSync(`${directory}/here/shop/process.json`) && !starting());
await provider.delete("shop");
await provider[Symbol.asyncDispose]();
console.log("done");

function starting(): boolean {
  return fs.readFileSync(`${directory}/here/shop/process.json`, "utf8").includes("starting");
}
