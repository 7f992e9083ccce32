import module from "node:module";
import { isTooOld } from "../process/node-version.ts";

/** Runs `kubectl ws` with these words. Nothing else is loaded before Node.js is known to be new enough. */
export async function run(args: readonly string[]): Promise<void> {
  if (isTooOld("kubectl ws")) return;
  module.enableCompileCache();
  const { main } = await import("./ws-main.ts");
  process.exitCode = await main(args);
}
