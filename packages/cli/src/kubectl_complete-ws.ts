#!/usr/bin/env node
// kubectl runs an executable of this name on the PATH to complete `kubectl ws`.
import module from "node:module";
import { isTooOld } from "./process/node-version.ts";

if (!isTooOld("kubectl ws")) {
  module.enableCompileCache();
  const { completeWs } = await import("./ws/complete.ts");
  process.stdout.write(`${await completeWs(process.argv.slice(2))}\n`);
}
