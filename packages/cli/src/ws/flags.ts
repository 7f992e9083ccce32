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
  short: { type: "switch", help: "Print only the path of the workspace." },
} as const satisfies FlagSet;

const USE = {
  direct: {
    type: "switch",
    help: "Go to the workspace itself, not to the remote cluster that replaces it.",
  },
  ...WHERE,
} as const satisfies FlagSet;

const CREATE = {
  type: { type: "text", value: "type", help: "Type of the workspace, with its path, such as root:organization." },
  mount: { type: "text", value: "kind/name", help: "Object that the workspace is mounted on." },
  enter: { type: "switch", help: "Go to the new workspace." },
  "ignore-existing": { type: "switch", help: "Accept an existing workspace." },
  "location-selector": { type: "text", value: "labels", help: "Labels of the shards that may hold the workspace." },
  "create-context": { type: "text", value: "name", help: "Name of a context to create for the workspace." },
  ...ELSEWHERE,
} as const satisfies FlagSet;

const CREATE_CONTEXT = {
  overwrite: { type: "switch", help: "Replace an existing context." },
} as const satisfies FlagSet;

const GET = {
  recursive: { type: "switch", short: "r", help: "Include all workspaces below." },
  output: { type: "text", short: "o", value: "wide|name|json|yaml", help: "Output format." },
  selector: { type: "text", short: "l", value: "labels", help: "Label selector." },
  "all-namespaces": { type: "switch", short: "A", help: "All namespaces." },
  ...ELSEWHERE,
} as const satisfies FlagSet;

const TREE = {
  full: { type: "switch", short: "f", help: "Print whole paths." },
  wide: { type: "switch", help: "Print phases and mounts." },
  interactive: { type: "switch", short: "i", help: "Browse the tree with the keyboard; Enter selects a workspace." },
  ...ELSEWHERE,
} as const satisfies FlagSet;

const GENERAL = {
  help: { type: "switch", short: "h", help: "Print this text." },
  version: { type: "switch", help: "Print the version." },
} as const satisfies FlagSet;

const OF_KUBECTL = {
  "Flags of kubectl": KUBECTL_FLAGS,
  "Flags of kubectl without effect": UNUSED_KUBECTL_FLAGS,
} as const;

const wsLine = (
  name: string,
  Flags: FlagSet,
  line: Pick<CommandLine, "words" | "summary" | "description">,
): CommandLine => commandLine({ program: `kubectl ws ${name}`, ...line, sections: { Flags, ...OF_KUBECTL } });

const USE_LINE = wsLine("use", USE, {
  words: "[<workspace> | . | .. | - | ~ | : | <URL>]",
  summary: "go to a workspace",
  description: `Goes to a workspace: changes the current context of the kubeconfig. Without arguments it goes to the home workspace.

Examples:
  kubectl ws shop               a child of the current workspace
  kubectl ws :root:acme:shop    a workspace by its whole path
  kubectl ws ..                 the parent
  kubectl ws -                  the previous workspace`,
});

/** Commands of `kubectl ws`, with their arguments and flags. */
export const WS_COMMANDS: ReadonlyMap<string, CommandLine> = new Map([
  ["use", USE_LINE],
  ["cd", { ...USE_LINE, program: "kubectl ws cd" }],
  [
    "current",
    wsLine("current", WHERE, {
      words: "",
      summary: "print the current workspace",
      description: `Prints the current workspace and its type.

Examples:
  kubectl ws current --short    root:acme:shop`,
    }),
  ],
  [
    "create",
    wsLine("create", CREATE, {
      words: "<name>",
      summary: "create a workspace",
      description: `Creates a workspace in the current one, and waits until it is ready.

Examples:
  kubectl ws create shop --enter
  kubectl ws create acme --type=root:organization --ignore-existing
  kubectl ws create edge --mount=clusterproxy/edge-1`,
    }),
  ],
  [
    "create-context",
    wsLine("create-context", CREATE_CONTEXT, {
      words: "[<name>]",
      summary: "create a context for the current workspace",
      description: `Creates a context of the kubeconfig for the current workspace, and makes it the current context. Its name is the path of the workspace by default.

Examples:
  kubectl ws create-context acme-shop`,
    }),
  ],
  [
    "get",
    wsLine("get", GET, {
      words: "<kind> -r",
      summary: "list objects in all workspaces below",
      description: `Lists objects in the current workspace and in all workspaces below it. Workspaces without the kind are left out, and so are mounts; those that cannot be read are reported on stderr.

Examples:
  kubectl ws get configmaps -r -A
  kubectl ws get workspaces -r -o name -w :root:acme`,
    }),
  ],
  [
    "tree",
    wsLine("tree", TREE, {
      words: "",
      summary: "show the workspaces below",
      description: `Shows the current workspace and all workspaces below it as a tree.

Examples:
  kubectl ws tree --wide        phases and mounts too
  kubectl ws tree -i            browse with the keyboard`,
    }),
  ],
]);

/** Command line of `kubectl ws`. Flags may precede the command, so it has those of all commands. */
export const WS = commandLine({
  program: "kubectl ws",
  words: "[command]",
  summary: "move between workspaces",
  description: [
    "Moves between workspaces, creates them, and shows the tree, like kcp's plugin of that name.",
    "",
    "  kubectl ws .                  print the current workspace (--short: only its path)",
    "  kubectl ws <name>             go to a child workspace; a:b or a/b further down",
    "  kubectl ws :root:a:b          go to a workspace by its whole path, or by its URL on this server",
    "  kubectl ws use <name> --direct  go to the workspace itself, not to the remote cluster that replaces it",
    "  kubectl ws ..                 go to the parent; ..:.. two up",
    "  kubectl ws -                  go to the previous workspace",
    "  kubectl ws ~                  go to the home workspace, as without arguments",
    "  kubectl ws :                  go to the first workspace of the current path",
    "  kubectl ws tree               show the workspaces below (-f: whole paths, --wide: phases and mounts,",
    "                                -i: browse with the keyboard)",
    "  kubectl ws get <kind> -r      list objects in the current workspace and all below",
    "                                (-l, -n, -A, -o wide|name|json|yaml)",
    "  kubectl ws create <name>      create a workspace and wait until it is ready (--type, --mount kind/name,",
    "                                --enter, --ignore-existing, --location-selector, --create-context)",
    "  kubectl ws create-context     create a context for the current workspace (--overwrite)",
    "  kubectl ws completion <shell> print completion of kubectl-ws for bash, zsh or fish",
    "  kubectl ws help <command>     print the help of a command",
    "",
    "-w <workspace> makes tree, get and create work in another workspace. Flags of kubectl keep their meaning. The command changes the contexts and clusters workspace.kcp.io/current and workspace.kcp.io/previous, and current-context, and keeps the previous version as <kubeconfig>.before-ws.",
  ].join("\n"),
  sections: {
    Flags: { ...USE, ...CREATE, ...CREATE_CONTEXT, ...GET, ...TREE, ...GENERAL },
    ...OF_KUBECTL,
  },
});

/** Values of the flags. */
export type WsFlags = Values<(typeof WS)["flags"]>;

/** Arguments and flags of any command. */
export interface Line {
  readonly words: readonly string[];
  readonly values: WsFlags;
}

/** Reads a command line. @throws UsageError on an unknown flag */
export const readLine = (args: readonly string[]): Line => readFlags(args, WS);

/** Returns a set flag that belongs to another command. */
export function foreignFlag(values: WsFlags, { flags }: CommandLine): string | undefined {
  return Object.entries(values).find(([name, value]) => isGiven(value) && !Object.hasOwn(flags, name))?.[0];
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== false;

/** Implementation of a command of `kubectl ws`. */
export interface WsCommand {
  /** Minimum and maximum number of arguments. */
  readonly words: readonly [least: number, most: number];
  /** Runs the command. @throws Failure, UsageError, and errors of the server */
  run(session: Session, words: readonly string[], values: WsFlags): Promise<void>;
}
