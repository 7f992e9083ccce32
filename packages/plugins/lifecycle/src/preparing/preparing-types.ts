import { isDeepStrictEqual } from "node:util";
import type { FollowedDependency, ViewDependency } from "@virtual-workspaces/framework";
import { clusterOf, lifecycleName, typesFrom, type WorkspaceType } from "@virtual-workspaces/kcp";
import { type Label, lifecycleLabel, PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { WorkspaceTypes } from "../workspace-types.ts";

/** On a WorkspaceType, `"true"`: its workspaces, and those of types that extend it, want to be prepared. */
export const PREPARES_ANNOTATION = "virtual-workspaces.io/prepares";

/** Labels of a LogicalCluster that begin so say which types it has been prepared for, see {@link preparedLabel}. */
const PREPARED_LABEL_PREFIX = "prepared.virtual-workspaces.io/";

/**
 * The label of a LogicalCluster that has been prepared for a type. Without it the workspace wants to be prepared again; whoever
 * sets it there does without.
 *
 * @param holder `<logical cluster of the type>:<type>`, as the type's initializer is called
 */
export const preparedLabel = (holder: string): Label => lifecycleLabel(PREPARED_LABEL_PREFIX, holder);

/** Which WorkspaceTypes want workspaces prepared, and whose workspaces are theirs. */
export class PreparingTypes implements ViewDependency<string> {
  readonly #types: WorkspaceTypes;
  readonly #followers = new Set<() => void>();
  /** By `<path>:<name>` and `<logical cluster>:<name>`; made anew when types have changed. */
  #byKey: Map<string, WorkspaceType[]> | undefined;
  readonly #wanting = new Map<string, ReadonlySet<string>>();

  constructor(types: WorkspaceTypes) {
    this.#types = types;
  }

  /** Heeds changes of types until it is disposed of. */
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
   * Who wants workspaces of a type prepared, of all that it is: called as initializers are. What it extends and is not there
   * wants nothing, and keeps nothing from others.
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

/** What of a type it is that counts. */
function relevantFields({ metadata: { annotations, uid }, spec }: WorkspaceType): readonly unknown[] {
  return [uid, annotations?.[PREPARES_ANNOTATION], annotations?.[PATH_ANNOTATION], spec?.extend];
}
