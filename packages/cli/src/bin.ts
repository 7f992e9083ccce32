#!/usr/bin/env node
// Compiled code is cached before anything of size is loaded, so that the second start takes a fraction of the first.
import module from "node:module";

module.enableCompileCache();
const [command, ...args] = process.argv.slice(2);
if (command === "dev:worker") {
  const { work } = await import("./dev/worker.ts");
  await work(args);
} else if (command === "serve:worker") {
  const { work } = await import("./serve/worker.ts");
  work();
} else {
  const { main } = await import("./main.ts");
  process.exitCode = await main(process.argv.slice(2));
}
