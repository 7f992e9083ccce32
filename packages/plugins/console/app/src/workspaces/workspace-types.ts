import { computed, type ReadonlySignal } from "@preact/signals";
import { workspacePath } from "../api/base.ts";
import { liveList } from "../api/live-list.ts";
import { clusterOf, type KubernetesObject } from "../api/types.ts";
import { texts } from "../texts.ts";
import { ancestorsOf, type TypeReference } from "./workspace.ts";

interface Selector {
  readonly none?: boolean;
  readonly types?: readonly TypeReference[];
}

interface WorkspaceType extends KubernetesObject {
  readonly spec?: {
    readonly initializer?: boolean;
    readonly defaultAPIBindings?: readonly { readonly path?: string; readonly export: string }[];
    readonly extend?: { readonly with?: readonly TypeReference[] };
    readonly defaultChildWorkspaceType?: TypeReference;
    readonly limitAllowedChildren?: Selector;
    readonly limitAllowedParents?: Selector;
  };
}

/** A type that a workspace may have. */
export interface AllowedType extends Required<TypeReference> {
  /** Explains what its workspaces get, and which may be in them. */
  readonly about: string;
}

export interface AllowedTypes {
  /** By name, without the default. */
  readonly types: readonly AllowedType[];
  /** Type that the server chooses if the Workspace names none. It has no path and no explanation if it cannot be read. */
  readonly default?: TypeReference & Partial<Pick<AllowedType, "about">>;
  readonly isLoading: boolean;
}

const keyOf = ({ name, path = "" }: TypeReference): string => `${path}:${name}`;

/**
 * Types that a workspace in `parent` may have, of those that can be read in the parent, its ancestors and root. Their limits and
 * those of the parent's type allow it. The server decides in the end.
 */
export function allowedTypes(parent: string, parentType: TypeReference): ReadonlySignal<AllowedTypes> {
  const places = [...new Set([...ancestorsOf(parent), "root"])].reverse();
  return computed(() => {
    const lists = places.map((path) => {
      const list = liveList<WorkspaceType>(`${workspacePath(path)}/apis/tenancy.kcp.io/v1alpha1/workspacetypes`).value;
      return { path, list };
    });
    const known = new Map<string, WorkspaceType>();
    for (const { path, list } of lists)
      for (const type of list.items) known.set(keyOf({ name: type.metadata.name, path }), type);
    const rule = known.get(keyOf(parentType))?.spec;
    const parents = withExtended(parentType, known);
    const types = lists.flatMap(({ path, list }) =>
      list.items
        .map((type) => ({ type, reference: { name: type.metadata.name, path } }))
        .filter(({ type, reference }) => {
          const children = withExtended(reference, known);
          return allows(rule?.limitAllowedChildren, children) && allows(type.spec?.limitAllowedParents, parents);
        })
        .map(({ type, reference }) => ({ ...reference, about: aboutType(type) })),
    );
    const isLoading = lists.some(({ list }) => list.state === "loading");
    const reference = rule?.defaultChildWorkspaceType;
    const isDefault = (type: TypeReference) => reference !== undefined && keyOf(type) === keyOf(reference);
    const others = types.filter((type) => !isDefault(type)).sort(byName);
    const fallback = types.find(isDefault) ?? reference;
    return { types: others, isLoading, ...(fallback !== undefined && { default: fallback }) };
  });
}

const byName = (a: Required<TypeReference>, b: Required<TypeReference>): number =>
  a.name.localeCompare(b.name) || a.path.localeCompare(b.path);

/** Explains a type by its own fields, without further requests. */
function aboutType({ spec = {} }: WorkspaceType): string {
  const words = texts.create.about;
  const { extend, defaultAPIBindings = [], defaultChildWorkspaceType: child, limitAllowedChildren: children } = spec;
  const names = (types: readonly TypeReference[] = []): string => types.map(({ name }) => name).join(", ");
  const parts = [
    (extend?.with ?? []).length > 0 && words.extends(names(extend?.with)),
    defaultAPIBindings.length > 0 && words.binds(defaultAPIBindings.map((one) => one.export).join(", ")),
    children?.none === true && words.noChildren,
    (children?.types ?? []).length > 0 && words.onlyChildren(names(children?.types)),
    child !== undefined && children === undefined && words.child(child.name),
    spec.initializer === true && words.initializer,
  ];
  return parts.filter((part) => part !== false).join(" ");
}

/** A type counts as each of the types that it extends. */
function withExtended(type: TypeReference, known: ReadonlyMap<string, WorkspaceType>): ReadonlySet<string> {
  const all = new Set<string>();
  const add = (one: TypeReference) => {
    const key = keyOf(one);
    if (all.has(key)) return;
    all.add(key);
    for (const base of known.get(key)?.spec?.extend?.with ?? []) add(base);
  };
  add(type);
  return all;
}

function allows(selector: Selector | undefined, types: ReadonlySet<string>): boolean {
  if (selector === undefined) return true;
  if (selector.none === true) return false;
  return (
    selector.types === undefined || selector.types.length === 0 || selector.types.some((one) => types.has(keyOf(one)))
  );
}

/** Type of a workspace itself, from its LogicalCluster. */
export function typeOfLogicalCluster(cluster: KubernetesObject): TypeReference | undefined {
  const text = cluster.metadata.annotations?.["internal.tenancy.kcp.io/type"];
  const at = text?.lastIndexOf(":") ?? -1;
  if (text === undefined || at < 0) return undefined;
  return { name: text.slice(at + 1), path: text.slice(0, at) || clusterOf(cluster) };
}
