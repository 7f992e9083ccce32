import { type CommandLine, flagNamed, type NamedFlag } from "../flags/table.ts";
import { connectionOf } from "../kubectl/connection.ts";
import { Kubeconfig } from "../kubectl/kubeconfig.ts";
import { readLine, WS, WS_COMMANDS } from "./flags.ts";
import { CLUSTER_PROXIES, MOUNTS, WORKSPACES } from "./session/kinds.ts";
import { Session } from "./session/session.ts";

/** Time limit for the server on a key press, ms. */
const PATIENCE = 2_000;
/** Directives of cobra, the last line of an answer. */
const [NO_SPACE, NO_FILES] = [2, 4];
/** Destinations that are not workspaces. */
const PLACES = ["..", "-", "~", "."];

interface Answer {
  readonly words: readonly string[];
  readonly directive: number;
}

/**
 * Answers `kubectl_complete-ws`, which kubectl runs with the words after `kubectl ws`. In cobra's protocol the answer has a
 * candidate per line, then `:` and a directive. The last word is the one to complete. Returns no candidates if the server
 * takes longer than two seconds.
 */
export async function completeWs(args: readonly string[]): Promise<string> {
  const before = args.slice(0, -1);
  const current = args.at(-1) ?? "";
  const { words, directive } = await answerOf(before, current).catch(
    (): Answer => ({ words: [], directive: NO_FILES }),
  );
  return [...words.filter((word) => word.startsWith(current)), `:${directive}`].join("\n");
}

async function answerOf(before: readonly string[], current: string): Promise<Answer> {
  const behind = flagNamed(before.at(-1), WS);
  const [, inline] = /^--([\w-]+)=/.exec(current) ?? [];
  if (behind !== undefined && behind.flag.type !== "switch") return valuesOf(behind, before.slice(0, -1), current);
  if (inline !== undefined) {
    const flag = flagNamed(`--${inline}`, WS);
    if (flag === undefined) return { words: [], directive: NO_FILES };
    const prefix = `--${inline}=`;
    const { words, directive } = await valuesOf(flag, before, current.slice(prefix.length));
    return { words: words.map((word) => prefix + word), directive };
  }
  const { words } = readLine(before);
  const command = WS_COMMANDS.get(words[0] ?? "");
  if (current.startsWith("-") && current !== "-") return flagsOf(command ?? WS);
  if (words.length === 0) {
    const { words: found, directive } = await workspaces(before, current);
    return { words: [...WS_COMMANDS.keys(), "help", ...PLACES, ...found], directive };
  }
  if (words.length === 1 && words[0] === "help") return { words: [...WS_COMMANDS.keys()], directive: NO_FILES };
  if (words.length > 1 || !["use", "cd"].includes(words[0] ?? "")) return { words: [], directive: NO_FILES };
  const { words: found, directive } = await workspaces(before, current);
  return { words: [...PLACES, ...found], directive };
}

function flagsOf({ flags }: CommandLine): Answer {
  return { words: [...Object.keys(flags).map((name) => `--${name}`), "--help"], directive: NO_FILES };
}

async function valuesOf({ name, flag }: NamedFlag, before: readonly string[], current: string): Promise<Answer> {
  if (/^[\w-]+(\|[\w-]+)+$/.test(flag.value ?? ""))
    return { words: (flag.value ?? "").split("|"), directive: NO_FILES };
  if (flag.value === "file" || flag.value === "folder") return { words: [], directive: 0 };
  if (name === "context")
    return {
      words: Kubeconfig.read(connectionOf(readLine(before).values).file, undefined).contexts,
      directive: NO_FILES,
    };
  if (name === "workspace") return workspaces(before, current);
  if (name === "mount") return { words: await mountObjects(before), directive: NO_FILES };
  return { words: [], directive: NO_FILES };
}

/** Returns the workspaces, mounted ones included, below the path before the last `:` or `/`. */
async function workspaces(before: readonly string[], current: string): Promise<Answer> {
  const [, parent = "", separator = ""] = /^(.*?)([:/]?)[^:/]*$/.exec(current) ?? [];
  const prefix = `${parent}${separator}`;
  if (parent === "" && separator !== "") return { words: [":root"], directive: NO_SPACE | NO_FILES };
  await using session = await open(before);
  const path = prefix === "" ? session.place.path : session.pathOf(parent);
  const { items } = await session.client(path).resource(WORKSPACES).list(session.patience);
  return { words: items.map(({ metadata }) => `${prefix}${metadata.name}`), directive: NO_SPACE | NO_FILES };
}

/** Returns objects of the current workspace for `--mount`. */
async function mountObjects(before: readonly string[]): Promise<readonly string[]> {
  await using session = await open(before);
  const client = session.client(session.place.path);
  const [mounts, proxies] = await Promise.allSettled([
    client.resource(MOUNTS).list(session.patience),
    client.resource(CLUSTER_PROXIES).list(session.patience),
  ]);
  const names = (kind: string, one: typeof mounts | typeof proxies): readonly string[] =>
    one.status === "fulfilled" ? one.value.items.map(({ metadata }) => `${kind}/${metadata.name}`) : [];
  return [...names(MOUNTS.kind, mounts), ...names(CLUSTER_PROXIES.kind, proxies)];
}

async function open(before: readonly string[]): Promise<Session> {
  const connection = connectionOf(readLine(before).values);
  return Session.open({
    ...connection,
    timeout: connection.timeout === 0 ? PATIENCE : Math.min(connection.timeout, PATIENCE),
  });
}
