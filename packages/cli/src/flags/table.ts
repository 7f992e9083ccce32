import type { Flag, FlagSet, FlagValues } from "@virtual-workspaces/workspace-server";

// Features have flags as commands do, so the table of flags is theirs.
export type { Flag, FlagSet };

/** What is read of flags, by their names; those without a default are `undefined` where they are not given. */
export type Values<Flags extends FlagSet> = FlagValues<Flags>;

/** A flag of a kcp's program that we do without: names, `*` at the end for all that begin so, and what to say. */
export interface KnownFlags {
  readonly names: string;
  /** Whether it takes no word behind it. @default it takes one */
  readonly kind?: "switch";
  readonly why: string;
}

/** The same where it protects something; values that change nothing are taken. */
export type RefusedFlags = KnownFlags & { readonly unless?: readonly string[] };

/** The flags of a program of kcp's that a command stands in for, and does without. Such a command is spelled as that: `-flag` and `--a_flag`, too. */
export interface KcpFlags {
  /** Nothing is less safe, or missing, without these: they are warnings. */
  readonly ignored: readonly KnownFlags[];
  /** What protects something, or moves it elsewhere: a server that only seems to heed it is worse than none. */
  readonly refused: readonly RefusedFlags[];
  /** What has no meaning for this server, though it has for others. */
  readonly foreign?: readonly KnownFlags[];
  /** What to do instead of naming something without a flag. */
  readonly words: string;
}

/** The command line of a command, all that is said of it. */
export interface CommandLine<Flags extends FlagSet = FlagSet> {
  /** As it is typed: `virtual-workspaces start`. */
  readonly program: string;
  /** What follows the name, in the list of commands. */
  readonly words: string;
  /** In the list of commands. */
  readonly summary: string;
  /** What follows the name, in its own help: more than one line for more than one use. @default the words and `[flags]` */
  readonly usage?: readonly string[];
  readonly description: string;
  /** The words that it begins with, for completion. */
  readonly actions?: readonly string[];
  readonly sections: Readonly<Record<string, FlagSet>>;
  /** All of them. */
  readonly flags: Flags;
  readonly kcp?: KcpFlags;
}

type Sections = Readonly<Record<string, FlagSet>>;
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
type FlagsIn<S extends Sections> = Intersection<S[keyof S]> & FlagSet;

/** Defines a command line: each flag is written in its section, once. */
export function commandLine<const S extends Sections>(
  line: Omit<CommandLine, "flags" | "sections"> & { readonly sections: S },
): CommandLine<FlagsIn<S>> {
  return { ...line, flags: Object.assign({}, ...Object.values(line.sections)) as FlagsIn<S> };
}

/** The entry that has a name. */
export function entryOf<T extends KnownFlags>(entries: readonly T[], name: string): T | undefined {
  return entries.find(({ names }) => names.split(" ").some((pattern) => fits(pattern, name)));
}

/** @param pattern may have one `*`, which stands for any text */
function fits(pattern: string, name: string): boolean {
  const [head = "", tail] = pattern.split("*");
  if (tail === undefined) return pattern === name;
  return name.length >= head.length + tail.length && name.startsWith(head) && name.endsWith(tail);
}

/** A flag with its name. */
export interface NamedFlag {
  readonly name: string;
  readonly flag: Flag;
}

/** The flag that a word names, in its long or its short form; `undefined` when the word is no flag of the command. */
export function flagNamed(word: string | undefined, { flags }: CommandLine): NamedFlag | undefined {
  const [, long, short] = /^(?:--([\w-]+)|-(\w))$/.exec(word ?? "") ?? [];
  const found = Object.entries(flags).find(
    ([name, flag]) => name === long || (short !== undefined && flag.short === short),
  );
  return found && { name: found[0], flag: found[1] };
}
