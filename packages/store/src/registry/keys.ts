import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import type { KeyRange } from "../store.ts";

/** Where the objects of a kind are: `<group>/<plural>/<logical cluster>/<namespace>/<name>`, whatever their version. */
export class Keys {
  readonly #kind: string;

  constructor({ group, plural }: ResourceDefinition) {
    this.#kind = `${group}/${plural}/`;
  }

  /** All of the kind. */
  get all(): KeyRange {
    return below(this.#kind);
  }

  of({ cluster, namespace, name }: ObjectKey): string {
    return `${this.#kind}${cluster}/${namespace}/${name}`;
  }

  /** Of one logical cluster and namespace, "" being one as well. */
  within({ cluster, namespace }: Omit<ObjectKey, "name">): KeyRange {
    return below(`${this.#kind}${cluster}/${namespace}/`);
  }

  /** Of a logical cluster and namespace, "" for all of either, behind `after`, the part of a key behind the kind. */
  behind({ cluster, namespace }: Omit<ObjectKey, "name">, after: string): KeyRange {
    const place = cluster === "" ? "" : namespace === "" ? `${cluster}/` : `${cluster}/${namespace}/`;
    const { from, to } = below(this.#kind + place);
    return { from: after !== "" && after.startsWith(place) ? `${this.#kind}${after}\0` : from, to };
  }

  /** What {@link of} made a key of: no part of it holds a slash. */
  parse(key: string): ObjectKey {
    const [cluster = "", namespace = "", name = ""] = key.slice(this.#kind.length).split("/");
    return { cluster, namespace, name };
  }
}

/** Keys that begin with `prefix`, which ends with a slash: "0" is what follows it. */
function below(prefix: string): KeyRange {
  return { from: prefix, to: `${prefix.slice(0, -1)}0` };
}
