/** What a flag takes. `path` is made absolute; a `list` is given again, or with commas between; `texts` are given again; a `duration` is Go's, in ms. */
export type FlagType = "text" | "path" | "number" | "duration" | "switch" | "list" | "texts";

/** A flag of a command: parsing, help and completion come from it. */
export interface Flag {
  readonly type: FlagType;
  /** What stands for the value in the help, and what is completed: `file`, `folder`, or words with `|` between. @default by type */
  readonly value?: string;
  /** One letter. */
  readonly short?: string;
  /** The value of a flag that is not given. @default undefined */
  readonly default?: string | number | boolean;
  /** The default in words, where it is no value. */
  readonly otherwise?: string;
  /** The largest value of a number. @default as large as a number can be */
  readonly most?: number;
  /** A noun phrase or an imperative, as in `kubectl --help`. */
  readonly help: string;
}

/** Flags by name, without `--`. */
export type FlagSet = Readonly<Record<string, Flag>>;

/** Names and types of flags that others define. */
export type FlagTypes = Readonly<Record<string, FlagType>>;

/** The type of a flag's value, by what the flag takes. */
export interface FlagValueTypes {
  /** As it is given. */
  readonly text: string;
  /** An absolute path. */
  readonly path: string;
  /** A whole number from 0. */
  readonly number: number;
  /** ms. */
  readonly duration: number;
  /** Whether it is on. */
  readonly switch: boolean;
  /** What is between commas, of all times that it is given. */
  readonly list: readonly string[];
  /** One for each time that it is given. */
  readonly texts: readonly string[];
}

/** The values of flags, by name. A flag that has no default and is not given is `undefined`. */
export type FlagValues<Flags extends FlagSet> = {
  readonly [Name in keyof Flags as string extends Name ? never : Name]:
    | FlagValueTypes[Flags[Name]["type"]]
    | (Flags[Name] extends { readonly default: unknown } ? never : undefined);
};

/** The values of flags that others define, by name; whether they have a default is not known. */
export type ValuesOfTypes<Types extends FlagTypes> = {
  readonly [Name in keyof Types as string extends Name ? never : Name]: FlagValueTypes[Types[Name]] | undefined;
};
