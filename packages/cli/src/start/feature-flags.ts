import type { NamedFeature, WorkspaceServerFeature } from "@virtual-workspaces/workspace-server";
import { type CommandLine, entryOf, type FlagSet, type KcpFlags, type KnownFlags } from "../flags/table.ts";
import { Failure, problemOf, UsageError } from "../process/failure.ts";
import type { ListedFeature } from "./features.ts";

/** Names that batteries have which are no features. */
export const OTHER_BATTERIES: readonly string[] = ["admin", "demo", "metrics-viewer", "user", "workspace-types"];

/** A feature that the flags turn on. */
export interface EnabledFeature extends NamedFeature {
  /** As {@link ListedFeature.module}. */
  readonly module?: string;
}

/** Sections of flags, by heading; those of features stand at their headings, in the order of the list. */
export function featureSections(features: readonly ListedFeature[]): Readonly<Record<string, FlagSet>> {
  const sections: Record<string, FlagSet> = {};
  for (const { feature } of features) {
    const { name, heading = `Feature ${name}`, flags = {} } = feature;
    if (Object.keys(flags).length > 0) sections[heading] = { ...sections[heading], ...flags };
  }
  return sections;
}

/** Flags that begin with the name of a module's feature and are none of its flags. */
export function mistypedFlags(features: readonly ListedFeature[]): Required<Pick<KcpFlags, "foreign">> {
  const ofModules = features.flatMap(({ feature: { name, flags = {} }, module }) =>
    module === undefined ? [] : [{ name, flags: Object.keys(flags) }],
  );
  return {
    foreign: ofModules.map(({ name, flags }) => {
      const has = flags.length === 0 ? "none" : flags.map((flag) => `--${flag}`).join(", ");
      return { names: `${name}-* ${name}`, why: `no flag of the feature ${name}, which has ${has}` };
    }),
  };
}

/**
 * Checks that features go together, and with the flags of the command.
 *
 * @throws Failure that names the module, or the feature of the command
 */
export function checkFeatures(features: readonly ListedFeature[], line: CommandLine): void {
  const names = new Map(OTHER_BATTERIES.map((name) => [name, "a battery"]));
  const flags = new Map(Object.keys(line.flags).map((name) => [name, "virtual-workspaces start itself"]));
  // Whoever comes from outside gives way.
  const isModule = ({ module }: ListedFeature): boolean => module !== undefined;
  for (const listed of [...features.filter((one) => !isModule(one)), ...features.filter(isModule)]) {
    const { name, flags: own = {} } = listed.feature;
    const what = textOf(listed);
    const other = names.get(name);
    if (other !== undefined) throw new Failure(`${what}: the name ${name} is taken by ${other}: give it another`);
    names.set(name, what);
    for (const flag of Object.keys(own)) {
      const owner = flags.get(flag);
      const call = `call it --${name}-${flag}`;
      if (owner !== undefined) throw new Failure(`${what}: the flag --${flag} is one of ${owner}: ${call}`);
      if (isModule(listed)) checkFlag(flag, listed, line);
      flags.set(flag, what);
    }
  }
  const all = Object.assign({}, line.flags, ...features.map(({ feature }) => feature.flags ?? {})) as FlagSet;
  for (const listed of features) checkUses(listed, all);
}

function textOf({ feature: { name }, module }: ListedFeature): string {
  return module === undefined ? `the feature ${name}` : `--feature ${module}`;
}

/** A flag of kcp's means the same here as there, or is refused: no feature gives it another meaning. */
function checkFlag(flag: string, listed: ListedFeature, line: CommandLine): void {
  const { name } = listed.feature;
  if (flag !== name && !flag.startsWith(`${name}-`))
    throw new Failure(
      `${textOf(listed)}: the flag --${flag} does not begin with the name of the feature: call it --${name}-${flag}`,
    );
  const { ignored = [], refused = [] } = line.kcp ?? {};
  if (entryOf<KnownFlags>([...ignored, ...refused], flag) !== undefined)
    throw new Failure(`${textOf(listed)}: kcp has a flag --${flag}: give the feature another name than ${name}`);
}

/** @throws Failure on flags that there are not, or that have another type */
function checkUses(listed: ListedFeature, all: FlagSet): void {
  const what = textOf(listed);
  for (const [flag, type] of Object.entries(listed.feature.uses ?? {})) {
    const found = Object.hasOwn(all, flag) ? all[flag] : undefined;
    if (found === undefined)
      throw new Failure(`${what} uses the flag --${flag}, which there is not: start the feature that has it, too`);
    if (found.type !== type) throw new Failure(`${what} uses the flag --${flag} as ${type}, and it is ${found.type}`);
  }
}

/** What features read. */
export interface ReadFlags {
  /** Of all flags. */
  readonly values: object;
  readonly batteries: ReadonlySet<string>;
  readonly warn: (message: string) => void;
}

/** The features that the flags turn on, in the order of the list. @throws UsageError, Failure on what the code of a module throws besides */
export function enabledFeatures(features: readonly ListedFeature[], given: ReadFlags): readonly EnabledFeature[] {
  return features.flatMap(({ feature, battery, module }) => {
    if (battery !== undefined && !given.batteries.has(feature.name)) return [];
    const parts = partsOf(feature, { module, given });
    return parts === undefined ? [] : [{ ...parts, name: feature.name, ...(module !== undefined && { module }) }];
  });
}

function partsOf(
  feature: WorkspaceServerFeature,
  { module, given }: { readonly module: string | undefined; readonly given: ReadFlags },
): ReturnType<WorkspaceServerFeature["read"]> {
  const usageError = (message: string): Error => new UsageError(message);
  try {
    return feature.read({ ...given, values: given.values as never, usageError });
  } catch (error) {
    if (module === undefined || error instanceof UsageError) throw error;
    throw new Failure(`--feature ${module} cannot read its flags: ${problemOf(error)}`, { cause: error });
  }
}
