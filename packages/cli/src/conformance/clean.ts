import { cleanConformance } from "@virtual-workspaces/testing";
import { orFail, UsageError } from "../process/failure.ts";
import { abortOnInterrupt } from "../process/interrupt.ts";
import { counted } from "../process/progress.ts";
import { connectionFlags, credentialsOf } from "./credentials.ts";
import { CONFORMANCE, type ConformanceFlags, SERVER } from "./flags.ts";

/** Value of `--clean` for every run. */
const ALL = "all";

/** Runs `virtual-workspaces conformance <url> --clean=<run>`. @returns the exit code @throws UsageError, Failure */
export async function clean(url: string, values: ConformanceFlags): Promise<number> {
  const name = values.clean ?? "";
  if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name))
    throw new UsageError(`invalid value "${name}" for --clean: use the name that the run printed, or all`);
  const others = Object.entries(values).filter(([, value]) => value !== undefined && value !== false);
  const astray = others.find(([flag]) => !["clean", "quiet", "json"].includes(flag) && !Object.hasOwn(SERVER, flag));
  if (astray !== undefined) throw new UsageError(`--${astray[0]} has no effect with --clean: remove it`);
  using interrupt = abortOnInterrupt();
  const { signal } = interrupt;
  const run = name === ALL ? {} : { run: name };
  const report = await orFail(() => cleanConformance({ url, credentials: credentialsOf(values), ...run, signal }));
  const { deleted, left } = report;
  if (values.json) console.log(JSON.stringify(report, null, 2));
  else {
    console.log(`deleted ${counted(deleted.length, "object")} of ${name === ALL ? "all runs" : name}`);
    if (left.length > 0) console.log(`not deleted, delete by hand: ${left.join(", ")}`);
  }
  return left.length === 0 ? 0 : 1;
}

/** Returns the command that deletes what a run has left, with the connection of this one. */
export function cleanCommand(url: string, values: ConformanceFlags, run: string): string {
  return [CONFORMANCE.program, ...[url, ...connectionFlags(values), `--clean=${run}`].map(quoted)].join(" ");
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
