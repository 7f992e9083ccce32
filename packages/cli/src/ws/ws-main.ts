import { isApiError } from "@virtual-workspaces/apimachinery";
import { isTransportError } from "@virtual-workspaces/transport";
import { helpOf, usageOf } from "../flags/help.ts";
import { unknownCommand } from "../flags/read.ts";
import type { CommandLine } from "../flags/table.ts";
import { connectionOf } from "../kubectl/connection.ts";
import { Failure, UsageError } from "../process/failure.ts";
import { version } from "../process/programs.ts";
import { foreignFlag, type Line, readLine, WS, WS_COMMANDS, type WsCommand } from "./flags.ts";
import { note, say } from "./session/output.ts";
import { Session } from "./session/session.ts";

const COMMANDS: ReadonlyMap<string, () => Promise<WsCommand>> = new Map([
  ["use", async () => (await import("./use.ts")).use],
  ["cd", async () => (await import("./use.ts")).use],
  ["current", async () => (await import("./use.ts")).current],
  ["create", async () => (await import("./create.ts")).create],
  ["create-context", async () => (await import("./create.ts")).createContext],
  ["get", async () => (await import("./get.ts")).get],
  ["tree", async () => (await import("./tree.ts")).tree],
]);

/** Runs `kubectl ws`. @returns the exit code: 0, 1 for a failure, 2 for a mistake in the command line */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const line = readLine(args);
    if (line.values.help || line.words[0] === "help") say(helpText(line));
    else if (line.values.version) say(version());
    else await run(line);
    return 0;
  } catch (error) {
    return complain(error);
  }
}

/** Returns the help of the program, or of a command: `help create`, `create --help`. @throws UsageError if the command is unknown */
function helpText({ words }: Line): string {
  const [name] = words.filter((word) => word !== "help");
  const line = WS_COMMANDS.get(name ?? "");
  if (line === undefined && name !== undefined && words[0] === "help")
    throw new UsageError(unknownCommand(name, [...WS_COMMANDS.keys()]));
  return helpOf(line ?? WS);
}

async function run({ words: [first = "", ...rest], values }: Line): Promise<void> {
  // A workspace may have this name.
  if (first === "completion" && rest.length > 0) return complete(rest);
  const isNamed = COMMANDS.has(first);
  const name = isNamed ? first : "use";
  const words = isNamed || first === "" ? rest : [first, ...rest];
  const command = await (COMMANDS.get(name) as () => Promise<WsCommand>)();
  const line = WS_COMMANDS.get(name) as CommandLine;
  const [least, most] = command.words;
  if (words.length < least || words.length > most) throw new UsageError(`usage: ${usageOf(line)}`);
  const foreign = foreignFlag(values, line);
  if (foreign !== undefined) throw new UsageError(`--${foreign} is not a flag of this command: ${usageOf(line)}`);
  await using session = await Session.open(connectionOf(values));
  await command.run(session, words, values);
}

async function complete(words: readonly string[]): Promise<void> {
  const { completionScript } = await import("../flags/completion.ts");
  say(completionScript({ name: "kubectl-ws", commands: WS_COMMANDS, line: WS }, words).trimEnd());
}

/** Prints errors like cobra, as kcp's plugin does. */
function complain(error: unknown): number {
  note(`Error: ${messageOf(error)}`);
  return error instanceof UsageError ? 2 : 1;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof UsageError) return `${error.message}; see kubectl ws --help`;
  const expected =
    error instanceof Failure || isApiError(error) || isTransportError(error) || error.name === "KubeconfigError";
  if (expected) return error.message;
  return error.name === "TimeoutError"
    ? "the server did not answer within --request-timeout"
    : (error.stack ?? error.message);
}
