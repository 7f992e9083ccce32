import {
  type CheckResult,
  type ConformanceReport,
  type ConformanceWrites,
  type Credentials,
  checkSpaceProvider,
  matchResources,
  parseSamples,
  printConformance,
  runConformance,
  type SpaceProviderCheckOptions,
} from "@virtual-workspaces/testing";
import { readFlags } from "../flags/read.ts";
import type { FlagSet } from "../flags/table.ts";
import { UsageError } from "../process/failure.ts";
import { contentOf } from "../process/files.ts";
import { abortOnInterrupt } from "../process/interrupt.ts";
import { counted, Progress } from "../process/progress.ts";
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
  const report = await reportOn(urlOf(words), values);
  const text = values.json ? `${JSON.stringify(report, null, 2)}\n` : printConformance(report, { color: isTerminal() });
  process.stdout.write(text);
  return report.failed === 0 && report.passed > 0 && report.left.length === 0 ? 0 : 1;
}

/** An interrupted run still deletes the objects it created. */
const LEFT = "any object left behind";

async function reportOn(url: string, values: ConformanceFlags): Promise<ConformanceReport> {
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
  using interrupt = abortOnInterrupt(writes && `${LEFT} has the label conformance.virtual-workspaces.dev/run`);
  return await runConformance({
    ...{ url, checks, onResult, strict, credentials: credentialsOf(values) },
    others: others.map((path) => fromFile("token", path, "other-token-file")),
    resources: matchResources(resource),
    signal: interrupt.signal,
    ...(writes === undefined ? {} : { writes }),
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

function credentialsOf(flags: ConformanceFlags): Credentials {
  const { "client-certificate": cert, "client-key": key, "tls-server-name": serverName } = flags;
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError("--client-certificate and --client-key must be set together");
  return {
    ...fromFile("ca", flags["certificate-authority"], "certificate-authority"),
    ...fromFile("clientCert", cert, "client-certificate"),
    ...fromFile("clientKey", key, "client-key"),
    ...fromFile("token", flags["token-file"], "token-file"),
    ...(serverName === undefined ? {} : { serverName }),
    insecureSkipTlsVerify: flags["insecure-skip-tls-verify"] ?? false,
  };
}

/** Returns the content of a file under a name, or an empty object without a file. */
function fromFile<Name extends string>(name: Name, path: string | undefined, flag: string): { [N in Name]?: string } {
  return path === undefined ? {} : ({ [name]: contentOf(path, flag).trim() } as { [N in Name]?: string });
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
