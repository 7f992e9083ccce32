import type { ServedResource } from "@virtual-workspaces/framework";
import type { TakenNames } from "../crds/definition/naming.ts";

/** The names of a group that kinds of every logical cluster have: no definition of one's own gets them. */
export function takenNames(served: readonly ServedResource[], group: string): TakenNames {
  const definitions = served.map(({ definition }) => definition).filter((definition) => definition.group === group);
  return {
    resources: new Set(definitions.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames])),
    kinds: new Set(definitions.flatMap(({ kind, listKind }) => [kind, listKind])),
  };
}
