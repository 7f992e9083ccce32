import { isDeepStrictEqual } from "node:util";
import type { FollowedDependency, ViewDependency } from "@virtual-workspaces/framework";
import { clusterOf, lifecycleName, typesFrom, type WorkspaceType } from "@virtual-workspaces/kcp";
import { type Label, lifecycleLabel, PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { WorkspaceTypes } from "../workspace-types.ts";

/** On a WorkspaceType: `"true"` prepares its workspaces, and those of types that extend it. */
export const PREPARES_ANNOTATION = "virtual-workspaces.io/prepares";

/** Prefix of a LogicalCluster's labels for the types that have prepared it, see {@link preparedLabel}. */
const PREPARED_LABEL_PREFIX = "prepared.virtual-workspaces.io/";

/**
 * Returns the label of a LogicalCluster that a type has prepared. Removing it prepares the workspace again; setting it skips the
 * preparation.
 *
 * @param holder `<logical cluster of the type>:<type>`, the name of the type's initializer
 */
export const preparedLabel = (holder: string): Label => lifecycleLabel(PREPARED_LABEL_PREFIX, holder);

/** WorkspaceTypes that prepare workspaces, and the types that they prepare. */
export class PreparingTypes implements ViewDependency<string> {
  readonly #types: WorkspaceTypes;
  readonly #followers = new Set<() => void>();
  /** Types by `<path>:<name>` and `<logical cluster>:<name>`; rebuilt after a change of a type. */
  #byKey: Map<string, WorkspaceType[]> | undefined;
  readonly #wanting = new Map<string, ReadonlySet<string>>();

  constructor(types: WorkspaceTypes) {
    this.#types = types;
  }

  /** Watches types until the result is disposed. */
  start(): AsyncDisposable {
    const lease = this.#types.hold();
    const changed = (): void => this.#changed();
    const heeded = lease.informer.on({
      added: changed,
      updated: (now, before) => {
        if (!isDeepStrictEqual(relevantFields(now), relevantFields(before))) changed();
      },
      deleted: changed,
    });
    return {
      [Symbol.asyncDispose]: async () => {
        heeded[Symbol.dispose]();
        await lease[Symbol.asyncDispose]();
      },
    };
  }

  follow(_holder: string, again: () => void): FollowedDependency {
    this.#followers.add(again);
    return { [Symbol.dispose]: () => void this.#followers.delete(again) };
  }

  /**
   * Returns the initializer names of the types that prepare workspaces of a type, among the type and all that it extends. Missing
   * types are ignored.
   *
   * @param type `<path or logical cluster>:<name>`
   */
  wanting(type: string): ReadonlySet<string> {
    const known = this.#wanting.get(type);
    if (known !== undefined) return known;
    this.#byKey ??= indexed(this.#types.known());
    const byKey = this.#byKey;
    const types = typesFrom(
      type,
      (key) => byKey.get(key) ?? [],
      () => undefined,
    );
    const wanting = new Set(
      types.filter(({ metadata }) => metadata.annotations?.[PREPARES_ANNOTATION] === "true").map(nameOf),
    );
    this.#wanting.set(type, wanting);
    return wanting;
  }

  #changed(): void {
    this.#byKey = undefined;
    this.#wanting.clear();
    for (const again of this.#followers) again();
  }
}

function indexed(types: Iterable<WorkspaceType>): Map<string, WorkspaceType[]> {
  const byKey = new Map<string, WorkspaceType[]>();
  for (const type of types) {
    const places = new Set([clusterOf(type), type.metadata.annotations?.[PATH_ANNOTATION] ?? clusterOf(type)]);
    for (const place of places) {
      const key = `${place}:${type.metadata.name}`;
      byKey.set(key, [...(byKey.get(key) ?? []), type]);
    }
  }
  return byKey;
}

function nameOf(type: WorkspaceType): string {
  return lifecycleName({ cluster: clusterOf(type), name: type.metadata.name ?? "" });
}

/** Returns the fields of a type that affect the result. */
function relevantFields({ metadata: { annotations, uid }, spec }: WorkspaceType): readonly unknown[] {
  return [uid, annotations?.[PREPARES_ANNOTATION], annotations?.[PATH_ANNOTATION], spec?.extend];
}
