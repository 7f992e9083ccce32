import { workspaceKey } from "./deleted.ts";
import type { ClusterNode } from "./node.ts";

/** A workspace that leads to a logical cluster, seen from there. */
export interface Link {
  readonly parent: ClusterNode;
  readonly name: string;
}

const keyOf = ({ parent, name }: Link): string => workspaceKey(parent.name, name);

/** Which workspaces lead to a logical cluster, whether they count or not. The first is kept in the node itself. */
export class Links {
  readonly #others = new Map<ClusterNode, Map<string, Link>>();

  add(node: ClusterNode, link: Link): void {
    if (node.parent === undefined) {
      node.parent = link.parent;
      node.linkName = link.name;
      return;
    }
    if (isFirst(node, link)) return;
    const others = this.#others.get(node);
    if (others === undefined) this.#others.set(node, new Map([[keyOf(link), link]]));
    else others.set(keyOf(link), link);
  }

  remove(node: ClusterNode, link: Link): void {
    const others = this.#others.get(node);
    if (isFirst(node, link)) {
      const [next] = others?.values() ?? [];
      node.parent = next?.parent;
      node.linkName = next?.name;
      if (next !== undefined) others?.delete(keyOf(next));
    } else others?.delete(keyOf(link));
    if (others?.size === 0) this.#others.delete(node);
  }

  of(node: ClusterNode): readonly Link[] {
    const { parent, linkName } = node;
    if (parent === undefined || linkName === undefined) return [];
    const others = this.#others.get(node);
    return [{ parent, name: linkName }, ...(others?.values() ?? [])];
  }
}

const isFirst = (node: ClusterNode, link: Link): boolean => node.parent === link.parent && node.linkName === link.name;
