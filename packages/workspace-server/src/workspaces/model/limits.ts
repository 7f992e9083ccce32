import type { WorkspaceType, WorkspaceTypeSelector } from "@virtual-workspaces/kcp";
import { joined, qualifiedName } from "./keys.ts";

/** A type as it was asked for, and all that it is. */
export interface ResolvedType {
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
