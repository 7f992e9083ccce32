import type { JwtAuthenticator } from "@virtual-workspaces/framework/authn";
import type { AuthenticatingType, ObjectInCluster, WorkspaceAuthenticators } from "./configurations.ts";

/** Objects that a shard reported. */
class ShardObjects {
  readonly types = new Map<string, AuthenticatingType>();
  readonly configurations = new Map<string, WorkspaceAuthenticators>();
}

/** WorkspaceType, and the shard that reported it. */
interface TypeOnShard {
  readonly shard: string;
  readonly type: AuthenticatingType;
}

/** WorkspaceTypes and their configurations, as the shards report them. */
export class KnownTypes {
  readonly #shards = new Map<string, ShardObjects>();
  /** Types by `<path>:<name>`, usually one per key. */
  readonly #named = new Map<string, readonly TypeOnShard[]>();

  setType(shard: string, type: AuthenticatingType): void {
    this.deleteType(shard, type);
    // Most types have no configurations and need no memory.
    if (type.configurations.length === 0) return;
    this.#of(shard).types.set(objectKey(type), type);
    const key = typeKey(type);
    this.#named.set(key, [...(this.#named.get(key) ?? []), { shard, type }]);
  }

  deleteType(shard: string, at: ObjectInCluster): void {
    const said = this.#shards.get(shard);
    const type = said?.types.get(objectKey(at));
    if (said === undefined || type === undefined) return;
    said.types.delete(objectKey(at));
    const key = typeKey(type);
    const others = (this.#named.get(key) ?? []).filter((one) => one.shard !== shard || one.type !== type);
    if (others.length === 0) this.#named.delete(key);
    else this.#named.set(key, others);
  }

  setConfiguration(shard: string, configuration: WorkspaceAuthenticators): void {
    this.#of(shard).configurations.set(objectKey(configuration), configuration);
  }

  deleteConfiguration(shard: string, at: ObjectInCluster): void {
    this.#shards.get(shard)?.configurations.delete(objectKey(at));
  }

  deleteShard(shard: string): void {
    for (const type of [...(this.#shards.get(shard)?.types.values() ?? [])]) this.deleteType(shard, type);
    this.#shards.delete(shard);
  }

  /**
   * Returns the configurations of the type with the key `<path>:<name>`. When two logical clusters claim the path, the result is
   * empty, since either claim may be wrong. When two shards report the same logical cluster, which is being moved, the first shard
   * by name wins.
   */
  configurationsOf(key: string): readonly (readonly JwtAuthenticator[])[] {
    const all = this.#named.get(key);
    if (all === undefined) return [];
    const [first, ...others] = [...all].sort((one, other) => (one.shard < other.shard ? -1 : 1));
    if (first === undefined || others.some(({ type }) => type.cluster !== first.type.cluster)) return [];
    const { cluster, configurations } = first.type;
    const there = this.#shards.get(first.shard)?.configurations;
    return configurations.flatMap((name) => {
      const found = there?.get(objectKey({ cluster, name }));
      return found === undefined ? [] : [found.jwt];
    });
  }

  #of(shard: string): ShardObjects {
    const known = this.#shards.get(shard) ?? new ShardObjects();
    this.#shards.set(shard, known);
    return known;
  }
}

function typeKey({ path, cluster, name }: AuthenticatingType): string {
  return `${path ?? cluster}:${name}`;
}

function objectKey({ cluster, name }: ObjectInCluster): string {
  return `${cluster}/${name}`;
}
