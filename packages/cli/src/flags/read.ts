import { resolve } from "node:path";
import { nearest, parseDuration } from "@virtual-workspaces/apimachinery";
import { Command, CommanderError, Option } from "commander";
import { UsageError } from "../process/failure.ts";
import {
  type CommandLine,
  entryOf,
  type Flag,
  type FlagSet,
  type KcpFlags,
  type KnownFlags,
  type Values,
} from "./table.ts";

/** Values of a command line. */
export interface Given<Flags extends FlagSet> {
  readonly values: Values<Flags>;
  /** Arguments that are not flags. */
  readonly words: readonly string[];
  /** Warnings about flags without effect, for the log. */
  readonly warnings: readonly string[];
}

/** Reads the flags of a command, `--flag value` and `--flag=value`. @throws UsageError for unknown flags and invalid values */
export function readFlags<Flags extends FlagSet>(args: readonly string[], line: CommandLine<Flags>): Given<Flags> {
  const command = commandOf(line);
  const { operands, unknown } = parsed(command, spelled(args, line));
  const others = unknown.filter((arg) => arg.startsWith("-"));
  const words = [...operands, ...unknown.filter((arg) => !arg.startsWith("-"))];
  const values = Object.fromEntries(
    Object.keys(line.flags).map((name) => [name, command.getOptionValue(attribute(name))]),
  ) as Values<Flags>;
  if (line.kcp === undefined) {
    if (others[0] !== undefined) throw new UsageError(unknownFlag(others[0], Object.keys(line.flags)));
    return { values, words, warnings: [] };
  }
  const { kcp } = line;
  if (words[0] !== undefined) throw new UsageError(`unexpected argument "${words[0]}": ${kcp.words}`);
  return { values, words, warnings: others.flatMap((arg) => warningsOf(arg, line.flags, kcp)) };
}

/** Returns whether an argument is a flag that the command knows, even if it rejects the flag. */
export function isFlagOf(arg: string, { flags, kcp }: CommandLine): boolean {
  const [, written = ""] = FLAG.exec(arg) ?? [];
  return kindOf(written.replaceAll("_", "-"), flags, kcp) !== undefined;
}

/** Returns commander's description of a command. */
export function commandOf({ program, sections, kcp }: CommandLine): Command {
  const command = new Command(program).helpOption(false).exitOverride();
  command.configureOutput({ writeErr: () => undefined });
  for (const [section, flags] of Object.entries(sections))
    for (const [name, flag] of Object.entries(flags)) {
      command.addOption(optionOf(name, flag, { section: `${section}:`, emptyIsNone: kcp !== undefined }));
      if (flag.type === "switch") command.addOption(new Option(`--no-${name}`).hideHelp());
    }
  // Sets defaults explicitly: a negatable flag would be true without one.
  for (const flags of Object.values(sections))
    for (const [name, flag] of Object.entries(flags)) command.setOptionValue(attribute(name), defaultOf(flag));
  return command;
}

interface Placed {
  readonly section: string;
  /** Whether an empty value means no value, as in Go. */
  readonly emptyIsNone: boolean;
}

function optionOf(name: string, flag: Flag, { section, emptyIsNone }: Placed): Option {
  const short = flag.short === undefined ? "" : `-${flag.short}, `;
  const value = flag.type === "switch" ? "" : ` <${flag.value ?? flag.type}>`;
  const option = new Option(`${short}--${name}${value}`, flag.help).helpGroup(section);
  if (flag.type !== "switch")
    option.argParser((text, before) =>
      text === "" && emptyIsNone && flag.type !== "list" && flag.type !== "texts"
        ? defaultOf(flag)
        : parseValue(flag, { name, text, before }),
    );
  return option;
}

/** Resolves a default path in the working directory, too. */
const defaultOf = ({ type, default: value }: Flag): Flag["default"] =>
  type === "path" && typeof value === "string" ? resolve(value) : value;

interface Text {
  readonly name: string;
  readonly text: string;
  /** Values of earlier occurrences of the flag. */
  readonly before: unknown;
}

/** Parses a flag's value. @throws UsageError */
function parseValue(flag: Flag, { name, text, before }: Text): unknown {
  const list = (before ?? []) as readonly string[];
  switch (flag.type) {
    case "texts":
      return [...list, text];
    case "list":
      return [...list, ...text.split(",").map((part) => part.trim())].filter((part) => part !== "");
    case "path":
      return resolve(text);
    case "number":
      return numberOf(text, name, flag.most ?? Number.MAX_SAFE_INTEGER);
    case "duration":
      return durationOf(text, name);
    default:
      return text;
  }
}

function numberOf(text: string, name: string, most: number): number {
  if (/^\d+$/.test(text) && Number(text) <= most) return Number(text);
  throw new UsageError(`invalid value "${text}" for --${name}: use a number from 0 to ${most}`);
}

function durationOf(text: string, name: string): number {
  const duration = flagDuration(text);
  if (duration !== undefined) return duration;
  throw new UsageError(`invalid value "${text}" for --${name}: use a duration such as 30s, 1m30s or 500ms`);
}

/** Returns the key of a flag's value in commander. */
function attribute(name: string): string {
  return new Option(`--${name}`).attributeName();
}

function parsed(command: Command, args: readonly string[]): ReturnType<Command["parseOptions"]> {
  try {
    return command.parseOptions([...args]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw new UsageError(error.message.replace(/^error: (option )?/, ""));
  }
}

/** Returns the message about an unknown flag, with a suggestion if one is close. */
function unknownFlag(arg: string, names: readonly string[]): string {
  const [, name = ""] = FLAG.exec(arg) ?? [];
  const meant = nearest(name, names);
  const dashes = /^-[^-]/.test(arg) && name.length === 1 ? "-" : "--";
  return `unknown flag ${dashes}${name}${meant === undefined ? "" : `: did you mean --${meant}?`}`;
}

/** Returns the message about an unknown command, with a suggestion if one is close. */
export function unknownCommand(name: string, commands: readonly string[]): string {
  const kind = name.startsWith("-") ? "flag" : "command";
  const meant = nearest(name, commands);
  return `unknown ${kind} "${name}": ${meant === undefined ? `use one of ${commands.join(", ")}` : `did you mean "${meant}"?`}`;
}

const FLAG = /^--?([^=]+)(?:=(.*))?$/s;

/**
 * Converts Go's spelling to commander's: a switch may be `--flag=false`, and `-o=json` becomes `-ojson`. Flags of kcp's
 * programs may also have one dash and `_`. A flag is never the value of the previous flag.
 *
 * @throws UsageError
 */
function spelled(args: readonly string[], line: CommandLine): readonly string[] {
  const rest = [...args];
  const all: string[] = [];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--") return [...all, arg, ...rest];
    const [, written = "", inline] = FLAG.exec(arg) ?? [];
    if (line.kcp === undefined && !arg.startsWith("--")) all.push(/^-[a-zA-Z]=/.test(arg) ? arg.replace("=", "") : arg);
    else if (written === "") all.push(arg);
    else {
      const name = line.kcp === undefined ? written : written.replaceAll("_", "-");
      all.push(...long(name, inline ?? valueBehind(name, rest, line), line));
    }
  }
  return all;
}

/** Returns a flag with its value in commander's spelling. */
function long(name: string, value: string | undefined, { flags }: CommandLine): readonly string[] {
  const isSwitch = Object.hasOwn(flags, name) && flags[name]?.type === "switch";
  if (!isSwitch) return [value === undefined ? `--${name}` : `--${name}=${value}`];
  if (value === undefined || /^(1|t|true)$/i.test(value)) return [`--${name}`];
  if (value === "") return [];
  if (/^(0|f|false)$/i.test(value)) return [`--no-${name}`];
  throw new UsageError(`invalid value "${value}" for --${name}: use true or false`);
}

/** Removes the next argument from `rest` if it is the flag's value. */
function valueBehind(name: string, rest: string[], { flags, kcp }: CommandLine): string | undefined {
  const kind = kindOf(name, flags, kcp);
  if (kind === "switch") return kcp === undefined || Object.hasOwn(flags, name) ? undefined : "true";
  const [next] = rest;
  if (kind === undefined && kcp === undefined) return undefined;
  if (next !== undefined && !/^--?[a-z]/.test(next)) return rest.shift();
  if (kind === undefined) return "";
  throw new UsageError(`--${name} needs a value: --${name} <value>`);
}

/** Returns the kind of a flag, or `undefined` if it is unknown. */
function kindOf(name: string, flags: FlagSet, kcp: KcpFlags | undefined): "switch" | "valued" | undefined {
  if (Object.hasOwn(flags, name)) return flags[name]?.type === "switch" ? "switch" : "valued";
  const { refused = [], ignored = [], foreign = [] } = kcp ?? {};
  const entry = entryOf<KnownFlags>([...refused, ...ignored, ...foreign], name);
  return entry && (entry.kind ?? "valued");
}

/** Warnings about a flag of kcp's that has no effect. @throws UsageError for every other flag */
function warningsOf(arg: string, flags: FlagSet, kcp: KcpFlags): readonly string[] {
  const [, name = "", value = ""] = FLAG.exec(arg) ?? [];
  const refused = entryOf(kcp.refused, name);
  if (refused?.unless?.includes(value) === true) return [];
  if (refused !== undefined) throw new UsageError(`--${name} is not implemented: ${refused.why}`);
  const foreign = entryOf(kcp.foreign ?? [], name);
  if (foreign !== undefined) throw new UsageError(`--${name} is ${foreign.why}`);
  const ignored = entryOf(kcp.ignored, name);
  if (ignored !== undefined) return [`--${name} is accepted and ignored: ${ignored.why}`];
  throw new UsageError(unknownFlag(arg, Object.keys(flags)));
}

/** Parses a duration of a flag, such as `1m30s`, into ms. Returns `undefined` for other texts, and for negative ones. */
export function flagDuration(text: string): number | undefined {
  const duration = parseDuration(text);
  return duration === undefined || duration < 0 || text.startsWith("-") ? undefined : duration;
}
