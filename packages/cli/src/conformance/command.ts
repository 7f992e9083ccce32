import {
  type CheckResult,
  type ConformanceReport,
  type ConformanceWrites,
  checkSpaceProvider,
  matchResources,
  newRun,
  parseSamples,
  printConformance,
  runConformance,
  type SpaceProviderCheckOptions,
} from "@virtual-workspaces/testing";
import { readFlags } from "../flags/read.ts";
import type { FlagSet } from "../flags/table.ts";
import { Failure, UsageError } from "../process/failure.ts";
import { contentOf } from "../process/files.ts";
import { abortOnInterrupt } from "../process/interrupt.ts";
import { counted, Progress } from "../process/progress.ts";
import { clean, cleanCommand } from "./clean.ts";
import { credentialsOf, fromFile } from "./credentials.ts";
import {
  CONFORMANCE,
  type ConformanceFlags,
  SERVER_CHECK_FLAGS,
  SPACE_PROVIDER_FLAGS,
  WRITING_FLAGS,
} from "./flags.ts";

/** Runs `virtual-workspaces conformance`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const { values, words } = readFlags(args, CONFORMANCE);
  const url = urlOf(words);
  if (values.clean !== undefined) return await clean(url, values);
  const run = newRun();
  const report = await reportOn(url, values, run);
  if (report.unreachable === undefined || values.json === true)
    process.stdout.write(
      values.json ? `${JSON.stringify(report, null, 2)}\n` : printConformance(report, { color: isTerminal() }),
    );
  const remedy = `delete it with: ${cleanCommand(url, values, run)}`;
  if (report.unreachable !== undefined) throw new Failure(unreachable(url, report, remedy));
  const { failed, disturbed, passed, left } = report;
  // Spaces have no label.
  if (left.length > 0 && values["space-provider"] !== true) throw new Failure(`something is left behind; ${remedy}`);
  return failed + disturbed === 0 && passed > 0 && left.length === 0 ? 0 : 1;
}

/** An interrupted run still deletes the objects it created. */
const LEFT = "any object left behind";

/** Returns the line about a server that does not answer. @param clean tells how to delete what is left */
function unreachable(
  url: string,
  { results, left, unreachable: reason = "" }: ConformanceReport,
  clean: string,
): string {
  const behind = left.length === 0 ? "" : `; something may be left behind, ${clean}`;
  if (results.length > 0)
    return `the server stopped answering after ${counted(results.length, "check")}: ${reason}${behind}`;
  const remedy = /certificate/i.test(reason)
    ? "use --certificate-authority for the authority of its certificate"
    : "start the server, or correct the URL";
  return `no answer from ${url}: ${reason}: ${remedy}`;
}

async function reportOn(url: string, values: ConformanceFlags, run: string): Promise<ConformanceReport> {
  const { resource = [], check = [], "other-token-file": others = [], strict = false } = values;
  const provider = spaceProviderOptions(values);
  using progress = new Progress("reading discovery", { quiet: values.quiet });
  let done = 0;
  const onResult = ({ id }: CheckResult): void => progress.set(`${counted(++done, "check")}, last ${id}`);
  const checks = (id: string): boolean =>
    check.length === 0 || check.some((wanted) => id === wanted || id.startsWith(`${wanted}.`));
  if (provider !== undefined) {
    using interrupt = abortOnInterrupt(provider.write === true ? `${LEFT} is called conformance-…` : undefined);
    return await checkSpaceProvider({
      url,
      ...credentialsOf(values),
      ...provider,
      checks,
      onResult,
      signal: interrupt.signal,
    });
  }
  const writes = writesOf(values);
  const command = cleanCommand(url, values, run);
  if (writes !== undefined && values.quiet !== true)
    process.stderr.write(
      `${CONFORMANCE.program}: ${run} writes ${resource.join(", ")}: no other client may write there until it ends\nif it is killed, delete what it has left with: ${command}\n`,
    );
  using interrupt = abortOnInterrupt(writes && `delete ${LEFT} with: ${command}`);
  return await runConformance({
    ...{ url, checks, onResult, strict, credentials: credentialsOf(values) },
    others: others.map((path) => fromFile("token", path, "other-token-file")),
    resources: matchResources(resource),
    signal: interrupt.signal,
    ...(writes === undefined ? {} : { writes: { ...writes, run } }),
  });
}

function urlOf(positionals: readonly string[]): string {
  const [url, ...others] = positionals;
  if (url === undefined || others.length > 0)
    throw new UsageError("expected one URL: for example https://127.0.0.1:6444/services/quotes/clusters/root");
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError(`invalid URL "${url}": use one that begins with https:// or http://`);
  return url;
}

function writesOf(flags: ConformanceFlags): ConformanceWrites | undefined {
  const { write, resource = [], namespace, sample = [], "patch-only-token-file": patchOnly, collects } = flags;
  if (write !== true) {
    const needless = namesIn(WRITING_FLAGS).find((name) => flags[name]);
    if (needless !== undefined) throw new UsageError(`--${needless} has no effect without --write: set both`);
    return undefined;
  }
  if (resource.length === 0)
    throw new UsageError("--write needs --resource: name the resources that the checks may write");
  return {
    samples: sample.flatMap(samplesIn),
    ...(namespace === undefined ? {} : { namespace }),
    ...(collects === undefined ? {} : { collects }),
    ...(patchOnly === undefined ? {} : { patchOnly: fromFile("token", patchOnly, "patch-only-token-file") }),
  };
}

function samplesIn(path: string): ReturnType<typeof parseSamples> {
  const text = contentOf(path, "sample");
  try {
    return parseSamples(text);
  } catch (error) {
    throw new UsageError(`--sample ${path}: ${(error as Error).message}`);
  }
}

function isTerminal(): boolean {
  return process.stdout.isTTY === true && process.env["NO_COLOR"] === undefined;
}

/** @returns `undefined` for an API server @throws UsageError on flags for the other kind of server */
function spaceProviderOptions(
  flags: ConformanceFlags,
): Pick<SpaceProviderCheckOptions, "parent" | "write" | "deadlines"> | undefined {
  const isProvider = flags["space-provider"] === true;
  const others = isProvider ? namesIn({ ...SERVER_CHECK_FLAGS, ...WRITING_FLAGS }) : namesIn(SPACE_PROVIDER_FLAGS);
  const astray = others.find((name) => flags[name] !== undefined);
  if (astray !== undefined)
    throw new UsageError(
      isProvider
        ? `--${astray} works only for API servers: remove it`
        : `--${astray} works only for space providers: add --space-provider`,
    );
  if (!isProvider) return undefined;
  const { parent, write = false, "ready-within": within } = flags;
  const seconds = Number(within ?? "300");
  if (!(seconds > 0 && seconds < 1e6))
    throw new UsageError(`invalid value "${within}" for --ready-within: use a number of seconds, such as 300`);
  return { write, ...(parent !== undefined && { parent }), deadlines: { ready: seconds * 1000 } };
}

function namesIn<Flags extends FlagSet>(flags: Flags): readonly (keyof Flags & keyof ConformanceFlags)[] {
  return Object.keys(flags) as (keyof Flags & keyof ConformanceFlags)[];
}
