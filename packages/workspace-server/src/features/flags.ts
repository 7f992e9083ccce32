/** Type of a flag's value: an absolute `path`, a repeatable or comma-separated `list`, repeatable `texts`, or a `duration` as in Go, in ms. */
export type FlagType = "text" | "path" | "number" | "duration" | "switch" | "list" | "texts";

/** Flag of a command, used for parsing, help and completion. */
export interface Flag {
  readonly type: FlagType;
  /** Placeholder of the value in the help, also used for completion: `file`, `folder`, or words separated by `|`. @default by type */
  readonly value?: string;
  /** Short form, one letter. */
  readonly short?: string;
  /** Default value. @default undefined */
  readonly default?: string | number | boolean;
  /** Description of the default, if it is not a fixed value. */
  readonly otherwise?: string;
  /** Whether the value is secret. `/flagz` shows `CLASSIFIED` in its place. @default false */
  readonly classified?: boolean;
  /** Maximum of a number. @default no limit */
  readonly most?: number;
  /** Help text: a noun phrase or an imperative, as in `kubectl --help`. */
  readonly help: string;
}

/** Flags by name, without `--`. */
export type FlagSet = Readonly<Record<string, Flag>>;

/** Names and types of flags that others define. */
export type FlagTypes = Readonly<Record<string, FlagType>>;

/** Value types by flag type. */
export interface FlagValueTypes {
  /** Text as given. */
  readonly text: string;
  /** Absolute path. */
  readonly path: string;
  /** Non-negative integer. */
  readonly number: number;
  /** Duration in ms. */
  readonly duration: number;
  /** Whether the flag is on. */
  readonly switch: boolean;
  /** Comma-separated values of all occurrences. */
  readonly list: readonly string[];
  /** One value for each occurrence. */
  readonly texts: readonly string[];
}

/** Values of flags by name; `undefined` for a missing flag without a default. */
export type FlagValues<Flags extends FlagSet> = {
  readonly [Name in keyof Flags as string extends Name ? never : Name]:
    | FlagValueTypes[Flags[Name]["type"]]
    | (Flags[Name] extends { readonly default: unknown } ? never : undefined);
};

/** Values of flags that others define, by name; any of them may be `undefined`. */
export type ValuesOfTypes<Types extends FlagTypes> = {
  readonly [Name in keyof Types as string extends Name ? never : Name]: FlagValueTypes[Types[Name]] | undefined;
};
