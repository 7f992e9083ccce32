import { readFlags } from "../flags/read.ts";
import { type CommandLine, commandLine, type FlagSet, type Values } from "../flags/table.ts";
import { KUBECTL_FLAGS, UNUSED_KUBECTL_FLAGS } from "../kubectl/connection.ts";
import type { Session } from "./session/session.ts";

const ELSEWHERE = {
  workspace: {
    type: "text",
    short: "w",
    value: "workspace",
    otherwise: "the current one",
    help: "Workspace to work in.",
  },
} as const satisfies FlagSet;

const WHERE = {
  short: { type: "switch", help: "Print the path of the workspace alone." },
} as const satisfies FlagSet;

const USE = {
  direct: {
    type: "switch",
    help: "Go to the workspace itself, where a ClusterProxy in it has another cluster entered in its place.",
  },
  ...WHERE,
} as const satisfies FlagSet;

const CREATE = {
  type: { type: "text", value: "type", help: "Type of the workspace, with its path: root:organization." },
  mount: { type: "text", value: "kind/name", help: "Object that the workspace is mounted from." },
  enter: { type: "switch", help: "Go to the workspace." },
  "ignore-existing": { type: "switch", help: "Take a workspace that is there already." },
  "location-selector": { type: "text", value: "labels", help: "Labels of shards where the workspace may be." },
  "create-context": { type: "text", value: "name", help: "Context to write for the workspace." },
  ...ELSEWHERE,
} as const satisfies FlagSet;

const CREATE_CONTEXT = {
  overwrite: { type: "switch", help: "Replace a context of that name." },
} as const satisfies FlagSet;

const GET = {
  recursive: { type: "switch", short: "r", help: "Look into all workspaces below as well." },
  output: { type: "text", short: "o", value: "wide|name|json|yaml", help: "Format of the objects." },
  selector: { type: "text", short: "l", value: "labels", help: "Labels of the objects." },
  "all-namespaces": { type: "switch", short: "A", help: "Look into all namespaces." },
  ...ELSEWHERE,
} as const satisfies FlagSet;

const TREE = {
  full: { type: "switch", short: "f", help: "Print whole paths." },
  wide: { type: "switch", help: "Print phases and mounts." },
  interactive: { type: "switch", short: "i", help: "Go about in the tree by keys; Enter goes there." },
  ...ELSEWHERE,
} as const satisfies FlagSet;

const GENERAL = {
  help: { type: "switch", short: "h", help: "Print this." },
  version: { type: "switch", help: "Print the version." },
} as const satisfies FlagSet;

const OF_KUBECTL = { "As of kubectl": KUBECTL_FLAGS, "Of kubectl, without effect": UNUSED_KUBECTL_FLAGS } as const;

const wsLine = (words: string, summary: string, Flags: FlagSet): CommandLine =>
  commandLine({ program: "kubectl ws", words, summary, description: "", sections: { Flags, ...OF_KUBECTL } });

const USE_LINE = wsLine(
  "[use] [<workspace> | . | .. | - | ~ | : | <URL>] [--direct] [--short]",
  "go to a workspace",
  USE,
);

/** The commands of `kubectl ws`: what follows its name, and their flags. */
export const WS_COMMANDS: ReadonlyMap<string, CommandLine> = new Map([
  ["use", USE_LINE],
  ["cd", USE_LINE],
  ["current", wsLine("current [--short]", "print the current workspace", WHERE)],
  [
    "create",
    wsLine(
      "create <name> [--type=<type> | --mount=<kind>/<name>] [--enter] [--ignore-existing] [--location-selector=<labels>] [--create-context=<name>] [-w <workspace>]",
      "make a workspace",
      CREATE,
    ),
  ],
  [
    "create-context",
    wsLine("create-context [<name>] [--overwrite]", "write a context for the current workspace", CREATE_CONTEXT),
  ],
  [
    "get",
    wsLine(
      "get <kind> -r [-l <labels>] [-n <namespace> | -A] [-o wide|name|json|yaml] [-w <workspace>]",
      "list objects in all workspaces below",
      GET,
    ),
  ],
  [
    "tree",
    wsLine("tree [-f | --full] [--wide | -i | --interactive] [-w <workspace>]", "show the workspaces below", TREE),
  ],
]);

/** The command line of `kubectl ws`: flags may stand before the command, so all are read before it is known. */
export const WS = commandLine({
  program: "kubectl ws",
  words: "[command]",
  summary: "go from workspace to workspace",
  description: `Goes from workspace to workspace, and makes and shows them, as kcp's plugin of that name does.

  kubectl ws .                  where one is (--short: its path alone)
  kubectl ws <name>             into a workspace of the current one; a:b or a/b further down
  kubectl ws :root:a:b          to a workspace by its whole path, or by its URL on this server
  kubectl ws use <name> --direct  the workspace itself, where a ClusterProxy in it has another cluster in its place
  kubectl ws ..                 up; ..:.. twice
  kubectl ws -                  back to where one was
  kubectl ws ~                  to one's home workspace, as without anything
  kubectl ws :                  to the first workspace of the current path
  kubectl ws tree               what is in the current workspace (-f: whole paths, --wide: phases and mounts,
                                -i: to go about in it by keys, Enter goes there)
  kubectl ws get <kind> -r      the objects of a kind in the current workspace and all below
                                (-l, -n, -A, -o wide|name|json|yaml)
  kubectl ws create <name>      makes a workspace, and waits for it (--type, --mount kind/name, --enter,
                                --ignore-existing, --location-selector, --create-context)
  kubectl ws create-context     a context of its own for the current workspace (--overwrite)
  kubectl ws completion <shell> completion of kubectl-ws for bash, zsh or fish

-w <workspace> has tree, get and create work elsewhere. kubectl's flags mean what they mean there. What is changed in the kubeconfig: the contexts and clusters workspace.kcp.io/current and workspace.kcp.io/previous, and current-context; how it was before is kept in <kubeconfig>.before-ws.`,
  sections: {
    Flags: { ...USE, ...CREATE, ...CREATE_CONTEXT, ...GET, ...TREE, ...GENERAL },
    ...OF_KUBECTL,
  },
});

/** What it is given. */
export type WsFlags = Values<(typeof WS)["flags"]>;

/** A command line: words, and flags of all commands. */
export interface Line {
  readonly words: readonly string[];
  readonly values: WsFlags;
}

/** @throws UsageError on a flag that there is not */
export const readLine = (args: readonly string[]): Line => readFlags(args, WS);

/** A flag that is given, and is for another command. */
export function foreignFlag(values: WsFlags, { flags }: CommandLine): string | undefined {
  return Object.entries(values).find(([name, value]) => isGiven(value) && !Object.hasOwn(flags, name))?.[0];
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== false;

/** What a command of `kubectl ws` does. */
export interface WsCommand {
  /** How many words it takes. */
  readonly words: readonly [least: number, most: number];
  /** @throws Failure, UsageError, or what a server answered */
  run(session: Session, words: readonly string[], values: WsFlags): Promise<void>;
}
