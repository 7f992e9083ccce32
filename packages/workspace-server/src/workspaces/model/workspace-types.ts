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

/** Where types are looked up: the `ShardRegistry`. */
export interface TypeSource {
  /** The types of a key `<path or logical cluster>:<name>`. */
  workspaceTypes(key: string): readonly WorkspaceType[];
  /** Whether the types of a workspace, by its path, cannot be known for now. @default they can */
  isAway?(place: string): boolean;
}

const TYPES = { group: TENANCY_GROUP, resource: "workspacetypes" } as const;

/** A type cannot be found, or what it extends cannot; the message is kcp's, for whoever asked for the workspace. */
export class TypeProblem extends Error {
  /** Whether there is none, and there may be one later. */
  readonly isMissing: boolean;

  constructor(message: string, { isMissing }: { readonly isMissing: boolean }) {
    super(message);
    this.isMissing = isMissing;
  }
}

/** Workspace types, and what they make of each other by extending. It keeps nothing. */
export class WorkspaceTypes {
  readonly #source: TypeSource;

  constructor(source: TypeSource) {
    this.#source = source;
  }

  /** The type of a key `<path or logical cluster>:<name>`. @throws TypeProblem when there is none, or more than one */
  get(key: string): WorkspaceType {
    const [type, other] = this.#source.workspaceTypes(key);
    if (type === undefined) throw missing(ApiError.notFound(TYPES, key).message);
    if (other !== undefined) {
      throw new TypeProblem(`multiple ${formatGroupResource(TYPES)} found for ${key}`, { isMissing: false });
    }
    return type;
  }

  /**
   * The type that a reference in a workspace means: with a path the one there; without, the nearest on the way up, and
   * in `root` at last.
   *
   * @throws TypeProblem when there is none, or more than one
   */
  find(from: string, { path = "", name }: WorkspaceTypeReference): WorkspaceType {
    if (path !== "") return this.#wrapped(joined(path, name));
    for (let at = from; ; ) {
      const key = joined(at, name);
      if (this.#source.workspaceTypes(key).length > 0) return this.#wrapped(key);
      // One further up would be another, if there is one here.
      if (this.#source.isAway?.(at)) throw missing(ApiError.notFound(TYPES, key).message);
      const { parent } = split(at);
      if (parent === "" && at === ROOT_CLUSTER)
        throw missing(`workspace type ${JSON.stringify(name)} cannot be resolved`);
      at = parent === "" ? ROOT_CLUSTER : parent;
    }
  }

  /**
   * All that a type is: what it extends, each followed by what that extends, each once, in the order of the lists; and
   * itself, last (kcp's transitive types).
   *
   * @throws TypeProblem when one is missing, or extends itself
   */
  aliases(type: WorkspaceType): WorkspaceType[] {
    const found: WorkspaceType[] = [];
    const own = qualifiedName(type);
    const seen = new Set([own]);
    /** Where on the way each stands. */
    const places = new Map([[own, 0]]);
    // Not by recursion: a chain of types may be longer than a stack is deep.
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

  /** What goes wrong on the way to a type that is named is an internal error in kcp's words, whatever it is. */
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

/** The initializer of the type `universal`, and so of all that extend it. */
export const UNIVERSAL_INITIALIZER: string = lifecycleName({ cluster: ROOT_CLUSTER, name: "universal" });

/** What workspaces of the type `universal` bind by default, and of all that extend it. */
export const UNIVERSAL_BINDINGS: readonly { readonly path: string; readonly export: string }[] = [
  { path: ROOT_CLUSTER, export: "tenancy.kcp.io" },
  { path: ROOT_CLUSTER, export: "topology.kcp.io" },
];

/** Who has to set up a workspace of a type, by all that the type is: the types' own controllers, then the bindings. */
export function initializersOf(aliases: readonly WorkspaceType[]): string[] {
  const own = aliases.filter(({ spec }) => spec?.initializer === true).map(holderOf);
  const binds = aliases.some(({ spec }) => (spec?.defaultAPIBindings ?? []).length > 0);
  return binds ? [...own, API_BINDINGS_INITIALIZER] : own;
}

/** Who has to clean it up before it is deleted. */
export function terminatorsOf(aliases: readonly WorkspaceType[]): string[] {
  return aliases.filter(({ spec }) => spec?.terminator === true).map(holderOf);
}

/** By the name of the logical cluster, not by its path. */
function holderOf(type: WorkspaceType): string {
  return lifecycleName({ cluster: clusterOf(type), name: type.metadata.name ?? "" });
}

/** The path of the logical cluster that an object is in, as the object says; else the cluster's name. */
export function pathOf(object: Pick<KubeObject, "metadata">): string {
  return object.metadata.annotations?.[PATH_ANNOTATION] || clusterOf(object);
}

/** The name of an object with the path before it: `root:org:team`. */
export function qualifiedName(object: Pick<KubeObject, "metadata">): string {
  return joined(pathOf(object), object.metadata.name ?? "");
}

/** A path with one more segment. */
export function joined(path: string, name: string): string {
  return path === "" ? name : `${path}:${name}`;
}

/** A path, and what its last segment is in; `""` for a path of one segment. */
export function split(path: string): { readonly parent: string; readonly name: string } {
  const colon = path.lastIndexOf(":");
  return { parent: path.slice(0, Math.max(colon, 0)), name: path.slice(colon + 1) };
}

/** A type as it was asked for, and all that it is. */
interface ResolvedType {
  /** `<path>:<name>`, as whoever named it wrote it. */
  readonly name: string;
  /** See `WorkspaceTypes.aliases`. */
  readonly aliases: readonly WorkspaceType[];
}

/** What stands in the way of a workspace of one type in one of another. */
export function limitProblems(parent: ResolvedType, child: ResolvedType): readonly string[] {
  const above = problems(child, parent, "parent");
  // Of the two only the first is told.
  return above.length > 0 ? above : problems(parent, child, "child");
}

/** Problems of one text as Go's aggregate prints them. */
export function together(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`;
}

/** The limits of a type and of all that it extends, on what the other is. */
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

/** As Go prints a sorted set. */
function listed(names: readonly string[]): string {
  return `[${[...new Set(names)].sort().join(" ")}]`;
}
