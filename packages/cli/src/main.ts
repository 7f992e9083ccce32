import { COMPLETION, completionScript } from "./flags/completion.ts";
import { helpOf, programHelp } from "./flags/help.ts";
import { isFlagOf, unknownCommand } from "./flags/read.ts";
import type { CommandLine } from "./flags/table.ts";
import { Failure, UsageError } from "./process/failure.ts";
import { version } from "./process/programs.ts";

const PROGRAM = "virtual-workspaces";

/** A command: its command line, and the code that runs it and returns an exit code. */
interface Command {
  /** @param args arguments after the name: features have their own flags */
  readonly line: (args: readonly string[]) => Promise<CommandLine>;
  readonly code: () => Promise<{ readonly run: (args: readonly string[]) => Promise<number> }>;
}

/** Commands by name. Only the given one is imported. */
const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  [
    "start",
    {
      line: async (args) => (await import("./start/command.ts")).lineFor(args),
      code: () => import("./start/command.ts"),
    },
  ],
  ["serve", { line: async () => (await import("./serve/flags.ts")).SERVE, code: () => import("./serve/command.ts") }],
  [
    "front-proxy",
    {
      line: async () => (await import("./front-proxy/flags.ts")).FRONT_PROXY,
      code: () => import("./front-proxy/command.ts"),
    },
  ],
  ["agent", { line: async () => (await import("./agent/flags.ts")).AGENT, code: () => import("./agent/command.ts") }],
  ["dev", { line: async () => (await import("./dev/flags.ts")).DEV, code: () => import("./dev/command.ts") }],
  ["store", { line: async () => (await import("./store/flags.ts")).STORE, code: () => import("./store/command.ts") }],
  [
    "manifests",
    {
      line: async () => (await import("./manifests/flags.ts")).MANIFESTS,
      code: () => import("./manifests/command.ts"),
    },
  ],
  [
    "doctor",
    { line: async () => (await import("./doctor/flags.ts")).DOCTOR, code: () => import("./doctor/command.ts") },
  ],
  [
    "console",
    { line: async () => (await import("./console/flags.ts")).CONSOLE, code: () => import("./console/command.ts") },
  ],
  [
    "conformance",
    {
      line: async () => (await import("./conformance/flags.ts")).CONFORMANCE,
      code: () => import("./conformance/command.ts"),
    },
  ],
  ["completion", { line: async () => COMPLETION, code: async () => ({ run: complete }) }],
]);

/** Flags that work without a command. */
const GENERAL: ReadonlySet<string> = new Set(["--help", "-h", "--version"]);

/** Runs the command line. @returns the exit code: 0, 1 for a failure, 2 for a mistake in the command line */
export async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = await named(args);
  try {
    if (name === "--version") return print(version());
    if (name === "--help" || name === "-h" || name === "help") return print(await helpText(rest));
    const command = COMMANDS.get(name ?? "");
    if (command === undefined) throw new UsageError(unknown(name));
    if (rest.includes("--help") || rest.includes("-h") || (rest[0] === "help" && rest.length === 1))
      return print(helpOf(await command.line(rest)));
    const { run } = await command.code();
    return await run(rest);
  } catch (error) {
    return complain(error, name);
  }
}

/** Adds `serve` to arguments that begin with one of its flags, because kcp's own `virtual-workspaces` has no commands. */
async function named(args: readonly string[]): Promise<readonly string[]> {
  const [first = ""] = args;
  if (!/^--?[a-z]/.test(first) || GENERAL.has(first)) return args;
  const { SERVE } = await import("./serve/flags.ts");
  return isFlagOf(first, SERVE) ? ["serve", ...args] : args;
}

/** Returns the command line of every command, by its name. */
export async function commandLines(): Promise<ReadonlyMap<string, CommandLine>> {
  return new Map(await Promise.all([...COMMANDS].map(async ([name, { line }]) => [name, await line([])] as const)));
}

/** Returns the help of the program, or of a command: `help store backup` prints that of `store`. */
async function helpText([name]: readonly string[]): Promise<string> {
  if (name === undefined) return programHelp(PROGRAM, await commandLines());
  const command = COMMANDS.get(name);
  if (command === undefined) throw new UsageError(unknown(name));
  return helpOf(await command.line([]));
}

async function complete(args: readonly string[]): Promise<number> {
  process.stdout.write(completionScript({ name: PROGRAM, commands: await commandLines() }, args));
  return 0;
}

function unknown(name: string | undefined): string {
  const commands = [...COMMANDS.keys()];
  if (name === undefined) return `missing command: use one of ${commands.join(", ")}`;
  return unknownCommand(name, commands);
}

function complain(error: unknown, command: string | undefined): number {
  const expected = error instanceof UsageError || error instanceof Failure;
  const text = expected ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
  const known = command !== undefined && COMMANDS.has(command);
  const prefix = known ? `${PROGRAM} ${command}` : PROGRAM;
  const hint = error instanceof UsageError ? `; see ${prefix} --help` : "";
  process.stderr.write(`${prefix}: ${text}${hint}\n`);
  return error instanceof UsageError ? 2 : 1;
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}
