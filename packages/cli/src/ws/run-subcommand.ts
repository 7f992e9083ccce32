import module from "node:module";
import { isTooOld } from "../process/node-version.ts";

/** Runs `kubectl ws` with these arguments. Imports nothing else before the check of the Node.js version. */
export async function run(args: readonly string[]): Promise<void> {
  if (isTooOld("kubectl ws")) return;
  module.enableCompileCache();
  const { main } = await import("./ws-main.ts");
  process.exitCode = await main(args);
}
