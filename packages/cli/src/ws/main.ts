import { readFileSync } from "node:fs";
import { isApiError } from "@virtual-workspaces/apimachinery";
import { isTransportError } from "@virtual-workspaces/transport";
import { connectionOf, type Line, ownFlagsIn, readLine } from "../kubectl/connection.ts";
import { Failure, UsageError } from "../process/failure.ts";
import { note, say, type WsCommand } from "./session/output.ts";
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

const HELP = `Goes from workspace to workspace, and makes and shows them, as kcp's plugin of that name does.

Usage: kubectl ws [command] [flags]

  kubectl ws .                  where one is (--short: its path alone)
  kubectl ws <name>             into a workspace of the current one; a:b or a/b further down
  kubectl ws :root:a:b          to a workspace by its whole path, or by its URL on this server
  kubectl ws use <name> --direct  the workspace itself, where a ClusterProxy in it has another cluster entered in its place
  kubectl ws ..                 up; ..:.. twice
  kubectl ws -                  back to where one was
  kubectl ws ~                  to one's home workspace, as without anything
  kubectl ws :                  to the first workspace of the current path
  kubectl ws tree               what is in the current workspace (-f: whole paths, --wide: phases and mounts,
                                -i: to go about in it by keys, Enter goes there)
  kubectl ws get <kind> -r      the objects of a kind in the current workspace and all below (-l, -n, -A, -o wide|name|json|yaml)
  kubectl ws create <name>      makes a workspace, and waits for it (--type, --mount kind/name, --enter,
                                --ignore-existing, --location-selector, --create-context)
  kubectl ws create-context     a context of its own for the current workspace (--overwrite)

-w <workspace> has tree, get and create work elsewhere. kubectl's flags mean what they mean there (--kubeconfig, --context, --server,
--token, --as, …). What is changed in the kubeconfig: the contexts and clusters workspace.kcp.io/current and
workspace.kcp.io/previous, and current-context; how it was before is kept in <kubeconfig>.before-ws.`;

/** Runs `kubectl ws`. @returns the exit code: 0, 1 for a failure, 2 for a mistake in the command line */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const line = readLine(args);
    if (line.values.help) say(HELP);
    else if (line.values.version) say(version());
    else await run(line);
    return 0;
  } catch (error) {
    return complain(error);
  }
}

async function run({ words: [first = "", ...rest], values }: Line): Promise<void> {
  const load = COMMANDS.get(first);
  const words = load === undefined && first !== "" ? [first, ...rest] : rest;
  const command = await (load ?? (COMMANDS.get("use") as () => Promise<WsCommand>))();
  const [least, most] = command.words;
  if (words.length < least || words.length > most) throw new UsageError(`usage: kubectl ws ${command.usage}`);
  const foreign = ownFlagsIn(values).find((flag) => !command.flags.includes(flag));
  if (foreign !== undefined)
    throw new UsageError(`--${foreign} is no flag of this command: kubectl ws ${command.usage}`);
  await using session = await Session.open(connectionOf(values));
  await command.run(session, words, values);
}

/** In cobra's way, as kcp's plugin complains. */
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

function version(): string {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return manifest.version;
}
