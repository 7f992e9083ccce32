/** What a flag takes: a text, several texts (given again, or with commas between), or only whether it is there. */
export type FlagKind = "text" | "list" | "switch";

/** A flag of a kcp's program that we do without: names, `*` at the end for all that begin so, and what to say. */
export interface KnownFlags {
  readonly names: string;
  readonly kind?: FlagKind;
  readonly why: string;
}

/** The same where it protects something; values that change nothing are taken. */
export type RefusedFlags = KnownFlags & { readonly unless?: readonly string[] };

/** The flags of a command that stands in for a program of kcp's. */
export interface FlagTable {
  /** Those that count. */
  readonly taken: Readonly<Record<string, FlagKind>>;
  /** Nothing is less safe, or missing, without these: they are warnings. */
  readonly ignored: readonly KnownFlags[];
  /** What protects something, or moves it elsewhere: a server that only seems to heed it is worse than none. */
  readonly refused: readonly RefusedFlags[];
  /** What is done about others: as the program of kcp's does, where it has few flags. */
  readonly others: "warned of" | "refused";
  /** What to do instead of naming something without a flag. */
  readonly words: string;
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
