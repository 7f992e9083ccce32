import { ApiError, formatGroupResource, type KubeObject } from "@virtual-workspaces/apimachinery";
import {
  API_BINDINGS_INITIALIZER,
  clusterOf,
  lifecycleName,
  ROOT_CLUSTER,
  TENANCY_GROUP,
  type WorkspaceType,
  type WorkspaceTypeReference,
  type WorkspaceTypeSelector,
} from "@virtual-workspaces/kcp";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";

/** Lookup of types: the `ShardRegistry`. */
export interface TypeSource {
  /** Returns the types of a key `<path or logical cluster>:<name>`. */
  workspaceTypes(key: string): readonly WorkspaceType[];
  /** Whether the types at a workspace path are temporarily unknown. @default never */
  isAway?(place: string): boolean;
}

const TYPES = { group: TENANCY_GROUP, resource: "workspacetypes" } as const;

/** A type, or one it extends, cannot be resolved; the message is kcp's, for the creator of the workspace. */
export class TypeProblem extends Error {
  /** Whether the type is missing, and may appear later. */
  readonly isMissing: boolean;

  constructor(message: string, { isMissing }: { readonly isMissing: boolean }) {
    super(message);
    this.isMissing = isMissing;
  }
}

/** Workspace types and their inheritance. Stateless. */
export class WorkspaceTypes {
  readonly #source: TypeSource;

  constructor(source: TypeSource) {
    this.#source = source;
  }

  /** Returns the type of a key `<path or logical cluster>:<name>`. @throws TypeProblem when there is none, or more than one */
  get(key: string): WorkspaceType {
    const [type, other] = this.#source.workspaceTypes(key);
    if (type === undefined) throw missing(ApiError.notFound(TYPES, key).message);
    if (other !== undefined) {
      throw new TypeProblem(`multiple ${formatGroupResource(TYPES)} found for ${key}`, { isMissing: false });
    }
    return type;
  }

  /**
   * Resolves a reference from a workspace: with a path the type there; without, the nearest one on the way up, finally in
   * `root`.
   *
   * @throws TypeProblem when there is none, or more than one
   */
  find(from: string, { path = "", name }: WorkspaceTypeReference): WorkspaceType {
    if (path !== "") return this.#wrapped(joined(path, name));
    for (let at = from; ; ) {
      const key = joined(at, name);
      if (this.#source.workspaceTypes(key).length > 0) return this.#wrapped(key);
      // A type here would take precedence over those further up.
      if (this.#source.isAway?.(at)) throw missing(ApiError.notFound(TYPES, key).message);
      const { parent } = split(at);
      if (parent === "" && at === ROOT_CLUSTER)
        throw missing(`workspace type ${JSON.stringify(name)} cannot be resolved`);
      at = parent === "" ? ROOT_CLUSTER : parent;
    }
  }

  /**
   * Returns the type itself, last, and before it those it extends, each followed by its own bases, once each, in list order
   * (kcp's transitive types).
   *
   * @throws TypeProblem when one is missing, or extends itself
   */
  aliases(type: WorkspaceType): WorkspaceType[] {
    const found: WorkspaceType[] = [];
    const own = qualifiedName(type);
    const seen = new Set([own]);
    /** Position of each type on the way. */
    const places = new Map([[own, 0]]);
    // Without recursion: a chain of types may exceed the stack.
    const way = [{ name: own, from: pathOf(type), rest: basesOf(type) }];
    for (let at = way.at(-1); at !== undefined; at = way.at(-1)) {
      const reference = at.rest.shift();
      if (reference === undefined) {
        way.pop();
        places.delete(at.name);
        continue;
      }
      const base = this.#base(at.from, reference);
      const name = qualifiedName(base);
      const before = places.get(name);
      if (before !== undefined) throw circle(name, way.slice(before));
      if (seen.has(name)) continue;
      seen.add(name);
      found.push(base);
      places.set(name, way.length);
      way.push({ name, from: pathOf(base), rest: basesOf(base) });
    }
    return [...found, type];
  }

  #base(from: string, reference: WorkspaceTypeReference): WorkspaceType {
    try {
      return this.find(from, reference);
    } catch (error) {
      if (!(error instanceof TypeProblem)) throw error;
      throw new TypeProblem(`unable to find inherited workspace type ${reference.name}`, error);
    }
  }

  /** Wraps errors about a named type as internal errors, as kcp does. */
  #wrapped(key: string): WorkspaceType {
    try {
      return this.get(key);
    } catch (error) {
      if (!(error instanceof TypeProblem)) throw error;
      throw new TypeProblem(`Internal error occurred: ${error.message}`, error);
    }
  }
}

function basesOf({ spec }: WorkspaceType): WorkspaceTypeReference[] {
  return [...(spec?.extend?.with ?? [])];
}

function missing(message: string): TypeProblem {
  return new TypeProblem(message, { isMissing: true });
}

function circle(name: string, way: readonly { readonly name: string }[]): TypeProblem {
  const members = way.map((step) => step.name).join(" -> ");
  return new TypeProblem(`circular dependency detected in workspace type ${name}: ${members}`, { isMissing: false });
}

/** Initializer of the type `universal`, and of all types that extend it. */
export const UNIVERSAL_INITIALIZER: string = lifecycleName({ cluster: ROOT_CLUSTER, name: "universal" });

/** Default bindings of workspaces of the type `universal`, and of all types that extend it. */
export const UNIVERSAL_BINDINGS: readonly { readonly path: string; readonly export: string }[] = [
  { path: ROOT_CLUSTER, export: "tenancy.kcp.io" },
  { path: ROOT_CLUSTER, export: "topology.kcp.io" },
];

/** Returns the initializers of a workspace from all its types: those of the types, then that of the bindings. */
export function initializersOf(aliases: readonly WorkspaceType[]): string[] {
  const own = aliases.filter(({ spec }) => spec?.initializer === true).map(holderOf);
  const binds = aliases.some(({ spec }) => (spec?.defaultAPIBindings ?? []).length > 0);
  return binds ? [...own, API_BINDINGS_INITIALIZER] : own;
}

/** Returns the terminators of a workspace from all its types. */
export function terminatorsOf(aliases: readonly WorkspaceType[]): string[] {
  return aliases.filter(({ spec }) => spec?.terminator === true).map(holderOf);
}

/** Named by logical cluster, not by path. */
function holderOf(type: WorkspaceType): string {
  return lifecycleName({ cluster: clusterOf(type), name: type.metadata.name ?? "" });
}

/** Returns the path of an object's logical cluster from its annotation; without one, the cluster's name. */
export function pathOf(object: Pick<KubeObject, "metadata">): string {
  return object.metadata.annotations?.[PATH_ANNOTATION] || clusterOf(object);
}

/** Returns the path and name of an object: `root:org:team`. */
export function qualifiedName(object: Pick<KubeObject, "metadata">): string {
  return joined(pathOf(object), object.metadata.name ?? "");
}

/** Appends a segment to a path. */
export function joined(path: string, name: string): string {
  return path === "" ? name : `${path}:${name}`;
}

/** Splits the last segment off a path; the parent of a single segment is `""`. */
export function split(path: string): { readonly parent: string; readonly name: string } {
  const colon = path.lastIndexOf(":");
  return { parent: path.slice(0, Math.max(colon, 0)), name: path.slice(colon + 1) };
}

/** A resolved type, with all types it extends. */
interface ResolvedType {
  /** `<path>:<name>`, as in the reference. */
  readonly name: string;
  /** See `WorkspaceTypes.aliases`. */
  readonly aliases: readonly WorkspaceType[];
}

/** Returns the limits that forbid a workspace of one type in one of another. */
export function limitProblems(parent: ResolvedType, child: ResolvedType): readonly string[] {
  const above = problems(child, parent, "parent");
  // Reports only the first of the two.
  return above.length > 0 ? above : problems(parent, child, "child");
}

/** Joins problems as Go's aggregate prints them. */
export function together(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`;
}

/** Checks the limits of a type and its bases against the other type. */
function problems(limiting: ResolvedType, other: ResolvedType, side: "parent" | "child"): string[] {
  const is = other.aliases.map(qualifiedName);
  return limiting.aliases.flatMap((alias) => {
    const limit = side === "parent" ? alias.spec?.limitAllowedParents : alias.spec?.limitAllowedChildren;
    if (limit === undefined) return [];
    if (limit.none === true) return [`workspace type ${limiting.name} cannot have any ${side}`];
    const allowed = allowedBy(limit);
    if (allowed.length === 0 || is.some((name) => allowed.includes(name))) return [];
    const name = qualifiedName(alias);
    const by = name === limiting.name ? "" : ` extends ${name}, which`;
    return [
      `workspace type ${limiting.name}${by} only allows ${listed(allowed)} ${side} workspaces, ` +
        `but ${side} type ${other.name} only implements ${listed(is)}`,
    ];
  });
}

function allowedBy({ types = [] }: WorkspaceTypeSelector): string[] {
  return types.map(({ path = "", name }) => joined(path, name));
}

/** Formats names as Go prints a sorted set. */
function listed(names: readonly string[]): string {
  return `[${[...new Set(names)].sort().join(" ")}]`;
}
