import type { Flag, FlagSet, FlagValues } from "@virtual-workspaces/workspace-server";

// Features use the same table of flags as commands.
export type { Flag, FlagSet };

/** Values of flags by name. A flag without a default is `undefined` if it is not set. */
export type Values<Flags extends FlagSet> = FlagValues<Flags>;

/** A flag of kcp's program that this one lacks: its names, `*` at the end for a prefix, and the reason. */
export interface KnownFlags {
  readonly names: string;
  /** Whether the flag has no value. @default it has one */
  readonly kind?: "switch";
  readonly why: string;
}

/** The same for a flag that protects something. Values in `unless` change nothing and are accepted. */
export type RefusedFlags = KnownFlags & { readonly unless?: readonly string[] };

/** Flags of the kcp program that a command replaces, and lacks itself. Such a command also accepts `-flag` and `--a_flag`. */
export interface KcpFlags {
  /** Flags without effect on safety or function: they cause warnings. */
  readonly ignored: readonly KnownFlags[];
  /** Flags that protect or move something. Security: the server rejects them, because ignoring them would only feign protection. */
  readonly refused: readonly RefusedFlags[];
  /** Flags that have no meaning for this server, but for others. */
  readonly foreign?: readonly KnownFlags[];
  /** Remedy for an unexpected argument. */
  readonly words: string;
}

/** Description of a command line. */
export interface CommandLine<Flags extends FlagSet = FlagSet> {
  /** Full name of the command: `virtual-workspaces start`. */
  readonly program: string;
  /** Arguments in the list of commands. */
  readonly words: string;
  /** Summary in the list of commands. */
  readonly summary: string;
  /** Arguments in the command's help, one line for each form. @default the words and `[flags]` */
  readonly usage?: readonly string[];
  readonly description: string;
  /** First arguments, for completion. */
  readonly actions?: readonly string[];
  readonly sections: Readonly<Record<string, FlagSet>>;
  /** Flags of all sections. */
  readonly flags: Flags;
  readonly kcp?: KcpFlags;
}

type Sections = Readonly<Record<string, FlagSet>>;
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
type FlagsIn<S extends Sections> = Intersection<S[keyof S]> & FlagSet;

/** Defines a command line. Each flag appears once, in its section. */
export function commandLine<const S extends Sections>(
  line: Omit<CommandLine, "flags" | "sections"> & { readonly sections: S },
): CommandLine<FlagsIn<S>> {
  return { ...line, flags: Object.assign({}, ...Object.values(line.sections)) as FlagsIn<S> };
}

/** Returns the entry for a name. */
export function entryOf<T extends KnownFlags>(entries: readonly T[], name: string): T | undefined {
  return entries.find(({ names }) => names.split(" ").some((pattern) => fits(pattern, name)));
}

/** Returns whether a pattern matches. @param pattern may contain one `*`, which matches any text */
function fits(pattern: string, name: string): boolean {
  const [head = "", tail] = pattern.split("*");
  if (tail === undefined) return pattern === name;
  return name.length >= head.length + tail.length && name.startsWith(head) && name.endsWith(tail);
}

/** A flag and its name. */
export interface NamedFlag {
  readonly name: string;
  readonly flag: Flag;
}

/** Returns the flag of an argument in its long or short form; `undefined` if the command does not have it. */
export function flagNamed(word: string | undefined, { flags }: CommandLine): NamedFlag | undefined {
  const [, long, short] = /^(?:--([\w-]+)|-(\w))$/.exec(word ?? "") ?? [];
  const found = Object.entries(flags).find(
    ([name, flag]) => name === long || (short !== undefined && flag.short === short),
  );
  return found && { name: found[0], flag: found[1] };
}
