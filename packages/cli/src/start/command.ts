import type { CommandLine } from "../flags/table.ts";
import { leave } from "../process/interrupt.ts";
import type { ListedFeature } from "./features.ts";

/** Runs `virtual-workspaces start`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const { startOptions } = await import("./start-options.ts");
  const options = startOptions(args, process.env, await featuresFor(args));
  const { serve } = await import("./serve-workspaces.ts");
  return leave(await serve(options));
}

/** Returns the command line, with the flags of the features that it names. @throws UsageError, Failure */
export async function lineFor(args: readonly string[]): Promise<CommandLine> {
  const { startLine } = await import("./flags.ts");
  return startLine(await featuresFor(args));
}

async function featuresFor(args: readonly string[]): Promise<readonly ListedFeature[]> {
  const [{ startFeatures }, { featureModules }] = await Promise.all([
    import("./features.ts"),
    import("./feature-modules.ts"),
  ]);
  return startFeatures(await featureModules(args));
}
