import { readFileSync } from "node:fs";
import { type Credentials, matchResources, printConformance, runConformance } from "@virtual-workspaces/testing";
import { type Command, parse, UsageError } from "./usage.ts";

export const conformance: Command = {
  help: `Usage: virtual-workspaces conformance <url> [flags]

Checks a Kubernetes-style API server by what its clients see: discovery, lists, watches, media types. It only reads. The
URL is what /api and /apis are below: https://127.0.0.1:6444/services/quotes/clusters/root. Exits with 1 when a check fails.

Flags:
  --certificate-authority <file>  whom to trust as the server             (default what Node trusts)
  --insecure-skip-tls-verify      trust any server: whoever sits in between reads the token
  --client-certificate <file>     as whom to ask, with --client-key
  --client-key <file>
  --token-file <file>             as whom to ask, by bearer token
  --resource <name>               check quotes, or quotes.example.dev, only; more than once for several
  --strict                        check too what this project promises beyond Kubernetes
  --json                          the report as JSON`,

  async run(args) {
    const { values, positionals } = parse(args, {
      "certificate-authority": { type: "string" },
      "insecure-skip-tls-verify": { type: "boolean" },
      "client-certificate": { type: "string" },
      "client-key": { type: "string" },
      "token-file": { type: "string" },
      resource: { type: "string", multiple: true },
      strict: { type: "boolean" },
      json: { type: "boolean" },
    });
    const report = await runConformance({
      url: urlOf(positionals),
      credentials: credentialsOf(values),
      resources: matchResources(values.resource ?? []),
      strict: values.strict ?? false,
    });
    const text = values.json
      ? `${JSON.stringify(report, null, 2)}\n`
      : printConformance(report, { color: isTerminal() });
    process.stdout.write(text);
    return report.failed === 0 && report.passed > 0 ? 0 : 1;
  },
};

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

interface Flags {
  readonly "certificate-authority"?: string;
  readonly "insecure-skip-tls-verify"?: boolean;
  readonly "client-certificate"?: string;
  readonly "client-key"?: string;
  readonly "token-file"?: string;
}

function credentialsOf(flags: Flags): Credentials {
  const { "client-certificate": cert, "client-key": key } = flags;
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError("--client-certificate and --client-key go together");
  return {
    ...fromFile("ca", flags["certificate-authority"], "--certificate-authority"),
    ...fromFile("clientCert", cert, "--client-certificate"),
    ...fromFile("clientKey", key, "--client-key"),
    ...fromFile("token", flags["token-file"], "--token-file"),
    insecureSkipTlsVerify: flags["insecure-skip-tls-verify"] ?? false,
  };
}

/** The content of a file under a name, nothing where no file is named. */
function fromFile<Name extends string>(name: Name, path: string | undefined, flag: string): { [N in Name]?: string } {
  if (path === undefined) return {};
  try {
    return { [name]: readFileSync(path, "utf8").trim() } as { [N in Name]?: string };
  } catch (error) {
    throw new UsageError(`${flag} ${path} cannot be read: ${(error as Error).message}`);
  }
}

function isTerminal(): boolean {
  return process.stdout.isTTY === true && process.env["NO_COLOR"] === undefined;
}
