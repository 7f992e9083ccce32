import { leave } from "../process/interrupt.ts";

/** Runs `virtual-workspaces serve`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const { serveOptions } = await import("./serve-options.ts");
  const options = serveOptions(args, process.env);
  for (const message of options.warnings) options.log({ level: "warn", message });
  const { workers, peers } = options.group;
  if (workers === 1 && peers === undefined) return leave(await (await import("./serve.ts")).serve(options));
  return leave(await (await import("./primary.ts")).serveAsGroup(args, options));
}
