import { readFileSync } from "node:fs";
import {
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
import { type Command, parse, UsageError } from "../process/failure.ts";
import { abortOnInterrupt } from "../process/interrupt.ts";

export const conformance: Command = {
  help: `Usage: virtual-workspaces conformance <url> [flags]

Checks a Kubernetes-style API server by what its clients see: discovery, lists, watches, media types, and writes where
--write allows them; it only reads otherwise. The URL is what /api and /apis are below:
https://127.0.0.1:6444/services/quotes/clusters/root. Exits with 1 when a check fails, or something is left behind.

Flags:
  --certificate-authority <file>  whom to trust as the server             (default what Node trusts)
  --tls-server-name <name>        whom its certificate is for             (default the host of the URL)
  --insecure-skip-tls-verify      trust any server: whoever sits in between reads the token
  --client-certificate <file>     as whom to ask, with --client-key
  --client-key <file>
  --token-file <file>             as whom to ask, by bearer token
  --other-token-file <file>       somebody else, whom nobody may be taken for; more than once for several
  --resource <name>               check quotes, or quotes.example.dev, only; more than once for several
  --check <id>                    make the check T9.4, or all of T9, only; more than once for several
  --strict                        check too what this project promises beyond Kubernetes
  --json                          the report as JSON

Space providers:
  --space-provider                the URL is that of a space provider, which /v1/spaces is below; with --write it makes a
                                  space, whose name begins with conformance-, and deletes it
  --parent <path>                 look at, and make, spaces below that one
  --ready-within <seconds>        how long a space may take to be ready, or gone            (default 300)

Writing:
  --write                         make, change and delete objects of each --resource that is named; those it makes have
                                  the label conformance.virtual-workspaces.dev/run, and are deleted at the end
  --namespace <name>              where namespaced objects are made; it must be there      (default default)
  --sample <file>                 what objects are made from, YAML or JSON; more than once for several
                                  (default what the OpenAPI schema requires, or a copy of an object)
  --patch-only-token-file <file>  somebody who may patch and not create: an apply that creates is a create
  --collects                      objects go with their owners and namespaces here, as in a cluster: see to that, in
                                  namespaces that are made for it`,

  async run(args) {
    const { values, positionals } = parse(args, {
      "certificate-authority": { type: "string" },
      "insecure-skip-tls-verify": { type: "boolean" },
      "client-certificate": { type: "string" },
      "client-key": { type: "string" },
      "token-file": { type: "string" },
      "other-token-file": { type: "string", multiple: true },
      "tls-server-name": { type: "string" },
      resource: { type: "string", multiple: true },
      check: { type: "string", multiple: true },
      write: { type: "boolean" },
      namespace: { type: "string" },
      sample: { type: "string", multiple: true },
      "patch-only-token-file": { type: "string" },
      collects: { type: "boolean" },
      strict: { type: "boolean" },
      json: { type: "boolean" },
      "space-provider": { type: "boolean" },
      parent: { type: "string" },
      "ready-within": { type: "string" },
    });
    const report = await reportOn(urlOf(positionals), values);
    const text = values.json
      ? `${JSON.stringify(report, null, 2)}\n`
      : printConformance(report, { color: isTerminal() });
    process.stdout.write(text);
    return report.failed === 0 && report.passed > 0 && report.left.length === 0 ? 0 : 1;
  },
};

interface AllFlags extends WritingFlags, Flags, SpaceProviderFlags {
  readonly check?: readonly string[];
  readonly strict?: boolean;
  readonly "other-token-file"?: readonly string[];
}

/** An interrupted run still deletes what it has made. */
const LEFT = "what it made and could not delete";

async function reportOn(url: string, values: AllFlags): Promise<ConformanceReport> {
  const { resource = [], check = [], "other-token-file": others = [], strict = false } = values;
  const provider = spaceProviderOptions(values);
  const checks = (id: string): boolean =>
    check.length === 0 || check.some((wanted) => id === wanted || id.startsWith(`${wanted}.`));
  if (provider !== undefined) {
    using interrupt = abortOnInterrupt(provider.write === true ? `${LEFT} is called conformance-…` : undefined);
    return await checkSpaceProvider({ url, ...credentialsOf(values), ...provider, checks, signal: interrupt.signal });
  }
  const writes = writesOf(values);
  using interrupt = abortOnInterrupt(writes && `${LEFT} has the label conformance.virtual-workspaces.dev/run`);
  return await runConformance({
    ...{ url, checks, strict, credentials: credentialsOf(values) },
    others: others.map((path) => fromFile("token", path, "--other-token-file")),
    resources: matchResources(resource),
    signal: interrupt.signal,
    ...(writes === undefined ? {} : { writes }),
  });
}

function urlOf(positionals: readonly string[]): string {
  const [url, ...others] = positionals;
  if (url === undefined || others.length > 0)
    throw new UsageError(
      "name one URL: virtual-workspaces conformance https://127.0.0.1:6444/services/quotes/clusters/root",
    );
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError(`${url} is no URL that begins with https:// or http://`);
  return url;
}

interface WritingFlags {
  readonly write?: boolean;
  readonly resource?: readonly string[];
  readonly namespace?: string;
  readonly sample?: readonly string[];
  readonly "patch-only-token-file"?: string;
  readonly collects?: boolean;
}

function writesOf(flags: WritingFlags): ConformanceWrites | undefined {
  const { write, resource = [], namespace, sample = [], "patch-only-token-file": patchOnly, collects } = flags;
  if (write !== true) {
    const [needless] = (["namespace", "sample", "patch-only-token-file", "collects"] as const).filter(
      (name) => flags[name],
    );
    if (needless !== undefined) throw new UsageError(`--${needless} is about writing: add --write to allow that`);
    return undefined;
  }
  if (resource.length === 0)
    throw new UsageError("--write needs --resource: name what may be written, so that nothing else is");
  return {
    samples: sample.flatMap(samplesIn),
    ...(namespace === undefined ? {} : { namespace }),
    ...(collects === undefined ? {} : { collects }),
    ...(patchOnly === undefined ? {} : { patchOnly: fromFile("token", patchOnly, "--patch-only-token-file") }),
  };
}

function samplesIn(path: string): ReturnType<typeof parseSamples> {
  const text = readText(path, "--sample");
  try {
    return parseSamples(text);
  } catch (error) {
    throw new UsageError(`--sample ${path}: ${(error as Error).message}`);
  }
}

interface Flags {
  readonly "tls-server-name"?: string;
  readonly "certificate-authority"?: string;
  readonly "insecure-skip-tls-verify"?: boolean;
  readonly "client-certificate"?: string;
  readonly "client-key"?: string;
  readonly "token-file"?: string;
}

function credentialsOf(flags: Flags): Credentials {
  const { "client-certificate": cert, "client-key": key, "tls-server-name": serverName } = flags;
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError("--client-certificate and --client-key go together");
  return {
    ...fromFile("ca", flags["certificate-authority"], "--certificate-authority"),
    ...fromFile("clientCert", cert, "--client-certificate"),
    ...fromFile("clientKey", key, "--client-key"),
    ...fromFile("token", flags["token-file"], "--token-file"),
    ...(serverName === undefined ? {} : { serverName }),
    insecureSkipTlsVerify: flags["insecure-skip-tls-verify"] ?? false,
  };
}

/** The content of a file under a name, nothing where no file is named. */
function fromFile<Name extends string>(name: Name, path: string | undefined, flag: string): { [N in Name]?: string } {
  return path === undefined ? {} : ({ [name]: readText(path, flag).trim() } as { [N in Name]?: string });
}

function readText(path: string, flag: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`${flag} ${path} cannot be read: ${(error as Error).message}`);
  }
}

function isTerminal(): boolean {
  return process.stdout.isTTY === true && process.env["NO_COLOR"] === undefined;
}

/** What a check of a space provider is told by flags. */
interface SpaceProviderFlags {
  readonly "space-provider"?: boolean;
  readonly parent?: string;
  readonly "ready-within"?: string;
  readonly write?: boolean;
}

/** What is said of API servers, and of them alone. */
const OF_SERVERS = [
  "resource",
  "namespace",
  "sample",
  "patch-only-token-file",
  "other-token-file",
  "collects",
  "strict",
] as const;
const OF_PROVIDERS = ["parent", "ready-within"] as const;

/** @returns `undefined` where it is an API server that is to be checked @throws UsageError on flags that are about the other */
function spaceProviderOptions(
  flags: SpaceProviderFlags & { readonly [Name in (typeof OF_SERVERS)[number]]?: unknown },
): Pick<SpaceProviderCheckOptions, "parent" | "write" | "deadlines"> | undefined {
  const isProvider = flags["space-provider"] === true;
  const [astray] = (isProvider ? OF_SERVERS : OF_PROVIDERS).filter((name) => flags[name] !== undefined);
  if (astray !== undefined)
    throw new UsageError(
      isProvider
        ? `--${astray} is about API servers: leave it out`
        : `--${astray} is about providers: add --space-provider`,
    );
  if (!isProvider) return undefined;
  const { parent, write = false, "ready-within": within } = flags;
  const seconds = Number(within ?? "300");
  if (!(seconds > 0 && seconds < 1e6)) throw new UsageError("--ready-within: give seconds, as in 300");
  return { write, ...(parent !== undefined && { parent }), deadlines: { ready: seconds * 1000 } };
}
