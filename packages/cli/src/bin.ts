#!/usr/bin/env node
// Compiled code is cached before anything of size is loaded, so that the second start takes a fraction of the first.
import cluster from "node:cluster";
import module from "node:module";

module.enableCompileCache();
if (cluster.isPrimary) {
  const { main } = await import("./main.ts");
  process.exitCode = await main(process.argv.slice(2));
} else {
  const { work } = await import("./dev/worker.ts");
  await work(process.argv.slice(2));
}
