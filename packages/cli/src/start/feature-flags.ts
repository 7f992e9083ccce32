import type { NamedFeature, WorkspaceServerFeature } from "@virtual-workspaces/workspace-server";
import { type CommandLine, entryOf, type FlagSet, type KcpFlags, type KnownFlags } from "../flags/table.ts";
import { Failure, problemOf, UsageError } from "../process/failure.ts";
import type { ListedFeature } from "./features.ts";

/** Batteries that are not features. */
export const OTHER_BATTERIES: readonly string[] = ["admin", "demo", "metrics-viewer", "user", "workspace-types"];

/** A feature that the flags turn on. */
export interface EnabledFeature extends NamedFeature {
  /** As {@link ListedFeature.module}. */
  readonly module?: string;
}

/** Returns sections of flags by heading. Those of features have their own headings, in the order of the list. */
export function featureSections(features: readonly ListedFeature[]): Readonly<Record<string, FlagSet>> {
  const sections: Record<string, FlagSet> = {};
  for (const { feature } of features) {
    const { name, heading = `Feature ${name}`, flags = {} } = feature;
    if (Object.keys(flags).length > 0) sections[heading] = { ...sections[heading], ...flags };
  }
  return sections;
}

/** Returns patterns for unknown flags that begin with the name of a module's feature. */
export function mistypedFlags(features: readonly ListedFeature[]): Required<Pick<KcpFlags, "foreign">> {
  const ofModules = features.flatMap(({ feature: { name, flags = {} }, module }) =>
    module === undefined ? [] : [{ name, flags: Object.keys(flags) }],
  );
  return {
    foreign: ofModules.map(({ name, flags }) => {
      const has = flags.length === 0 ? "none" : flags.map((flag) => `--${flag}`).join(", ");
      return { names: `${name}-* ${name}`, why: `not a flag of the feature ${name}, which has ${has}` };
    }),
  };
}

/**
 * Checks that features do not conflict with each other or with the flags of the command.
 *
 * @throws Failure naming the module, or the feature of the command
 */
export function checkFeatures(features: readonly ListedFeature[], line: CommandLine): void {
  const names = new Map(OTHER_BATTERIES.map((name) => [name, "a battery"]));
  const flags = new Map(Object.keys(line.flags).map((name) => [name, "virtual-workspaces start"]));
  // In a conflict the module is at fault.
  const isModule = ({ module }: ListedFeature): boolean => module !== undefined;
  for (const listed of [...features.filter((one) => !isModule(one)), ...features.filter(isModule)]) {
    const { name, flags: own = {} } = listed.feature;
    const what = textOf(listed);
    const other = names.get(name);
    if (other !== undefined)
      throw new Failure(`${what}: the name ${name} is already used by ${other}: use another name`);
    names.set(name, what);
    for (const flag of Object.keys(own)) {
      const owner = flags.get(flag);
      const call = `rename it to --${name}-${flag}`;
      if (owner !== undefined) throw new Failure(`${what}: the flag --${flag} already belongs to ${owner}: ${call}`);
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

/** Keeps kcp's flags: here they have kcp's meaning or are rejected, so no feature may define them. */
function checkFlag(flag: string, listed: ListedFeature, line: CommandLine): void {
  const { name } = listed.feature;
  if (flag !== name && !flag.startsWith(`${name}-`))
    throw new Failure(
      `${textOf(listed)}: the flag --${flag} does not begin with the name of the feature: rename it to --${name}-${flag}`,
    );
  const { ignored = [], refused = [] } = line.kcp ?? {};
  if (entryOf<KnownFlags>([...ignored, ...refused], flag) !== undefined)
    throw new Failure(`${textOf(listed)}: kcp has a flag --${flag}: use another name than ${name} for the feature`);
}

/** Checks the flags that a feature uses. @throws Failure when one does not exist or has another type */
function checkUses(listed: ListedFeature, all: FlagSet): void {
  const what = textOf(listed);
  for (const [flag, type] of Object.entries(listed.feature.uses ?? {})) {
    const found = Object.hasOwn(all, flag) ? all[flag] : undefined;
    if (found === undefined)
      throw new Failure(`${what} uses the flag --${flag}, which does not exist: add the feature that defines it`);
    if (found.type !== type)
      throw new Failure(`${what} uses the flag --${flag} as ${type}, but its type is ${found.type}`);
  }
}

/** Input of features. */
export interface ReadFlags {
  /** Values of all flags. */
  readonly values: object;
  readonly batteries: ReadonlySet<string>;
  readonly warn: (message: string) => void;
}

/** Returns the enabled features in the order of the list. @throws UsageError, Failure on other errors of a module */
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
    throw new Failure(`--feature ${module} failed to read its flags: ${problemOf(error)}`, { cause: error });
  }
}
