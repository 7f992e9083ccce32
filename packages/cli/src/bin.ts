#!/usr/bin/env node
import module from "node:module";
import { isTooOld } from "./process/node-version.ts";

// A static import would load what an old Node.js cannot parse.
if (!isTooOld("virtual-workspaces")) await run(process.argv.slice(2));

async function run([command, ...args]: readonly string[]): Promise<void> {
  if (command === "front-proxy") (await import("./process/bounded-memory.ts")).boundMemory();
  // Enables the compile cache before large imports, so that the second start takes a fraction of the first.
  module.enableCompileCache();
  if (command === "dev:worker") {
    const { work } = await import("./dev/worker.ts");
    await work(args);
  } else if (command === "serve:worker") {
    const { work } = await import("./serve/worker.ts");
    work();
  } else if (command === "front-proxy:worker") {
    const { work } = await import("./front-proxy/worker.ts");
    work();
  } else {
    const { main } = await import("./main.ts");
    process.exitCode = await main(process.argv.slice(2));
  }
}
