import { ApiError, formatGroupResource } from "@virtual-workspaces/apimachinery";
import { ROOT_CLUSTER, TENANCY_GROUP, type WorkspaceType, type WorkspaceTypeReference } from "@virtual-workspaces/kcp";
import { joined, pathOf, qualifiedName, split } from "./keys.ts";

/** Where types are looked up: an `Installation`. */
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
