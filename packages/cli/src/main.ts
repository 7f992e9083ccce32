import { type Command, Failure, UsageError } from "./process/failure.ts";
import { version } from "./process/programs.ts";

/** Each command is loaded when it is the one asked for. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ["start", async () => (await import("./start/command.ts")).start],
  ["serve", async () => (await import("./serve/command.ts")).serve],
  ["front-proxy", async () => (await import("./front-proxy/command.ts")).frontProxy],
  ["agent", async () => (await import("./agent/command.ts")).agent],
  ["dev", async () => (await import("./dev/command.ts")).dev],
  ["store", async () => (await import("./store/command.ts")).store],
  ["manifests", async () => (await import("./manifests/command.ts")).manifests],
  ["doctor", async () => (await import("./doctor/command.ts")).doctor],
  ["conformance", async () => (await import("./conformance/command.ts")).conformance],
]);

/** Flags that are for no command. */
const GENERAL: ReadonlySet<string> = new Set(["--help", "-h", "--version"]);

const HELP = `Usage: virtual-workspaces <command>

Commands:
  start                    serve workspaces, as kcp does
  serve                    serve kcp's views, and others, over the workspaces of another server
  front-proxy              serve the workspaces of all shards, by their paths, and what is behind other paths
  agent                    give a hub the cluster that it runs in, through a tunnel that it dials
  dev <file or folder>...  serve views on this machine, reloading them on save
  store backup|restore     copy what a store holds into a file, and back
  manifests <view>...      print what views need installed
  doctor [<url>]           say what is wrong with a server, an export, a mount, and the remedy
  conformance <url>        check an API server by what its clients see

Flags:
  --help     this text, or with a command what it takes
  --version  the version`;

/** Runs the command line. @returns the exit code: 0, 1 for a failure, 2 for a mistake in the command line */
export async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = await named(args);
  try {
    if (name === "--version") return print(version());
    if (name === "--help" || name === "-h" || name === "help") return print(HELP);
    const load = COMMANDS.get(name ?? "");
    if (load === undefined) throw new UsageError(unknown(name));
    const command = await load();
    if (rest.includes("--help") || rest.includes("-h")) return print(command.help);
    return await command.run(rest);
  } catch (error) {
    return complain(error, name);
  }
}

/** kcp's own `virtual-workspaces` has no commands: what begins with one of its flags is for `serve`. */
async function named(args: readonly string[]): Promise<readonly string[]> {
  const [first = ""] = args;
  if (!/^--?[a-z]/.test(first) || GENERAL.has(first)) return args;
  const [{ isFlagOf }, { SERVE }] = await Promise.all([import("./flags/flags.ts"), import("./serve/flags.ts")]);
  return isFlagOf(first, SERVE) ? ["serve", ...args] : args;
}

function unknown(name: string | undefined): string {
  const commands = [...COMMANDS.keys()].join(", ");
  return name === undefined
    ? `a command is missing. The commands are ${commands}`
    : `there is no ${name.startsWith("-") ? "flag" : "command"} ${name}. The commands are ${commands}`;
}

function complain(error: unknown, command: string | undefined): number {
  const expected = error instanceof UsageError || error instanceof Failure;
  const text = expected ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
  const known = command !== undefined && COMMANDS.has(command);
  const prefix = known ? `virtual-workspaces ${command}` : "virtual-workspaces";
  const hint = error instanceof UsageError ? `; see ${prefix} --help` : "";
  process.stderr.write(`${prefix}: ${text}${hint}\n`);
  return error instanceof UsageError ? 2 : 1;
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}
