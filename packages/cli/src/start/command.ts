import { leave } from "../process/interrupt.ts";

/** Runs `virtual-workspaces start`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const { startOptions } = await import("./start-options.ts");
  const options = startOptions(args, process.env);
  const { serve } = await import("./serve-workspaces.ts");
  return leave(await serve(options));
}
