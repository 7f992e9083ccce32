import type { GroupResource } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { decodeObject, type Encoded } from "@virtual-workspaces/framework/storage";
import type { CrdNames, CrdSpec, CustomResourceDefinition } from "../definition/definition.ts";
import { CORE_GROUP, hasCondition } from "../definition/definition.ts";
import { namesIn } from "../definition/naming.ts";
import type { LiveKind } from "./live-kind.ts";

/** CustomResourceDefinition as stored, with its served kind while that is in use. */
export class CrdEntry {
  readonly cluster: string;
  readonly name: string;
  #object: Encoded;
  #accepted: CrdNames | undefined;
  #scope: CrdSpec["scope"] | null | undefined;
  #live: WeakRef<LiveKind> | undefined;

  constructor(object: Encoded) {
    this.#object = object;
    this.cluster = object.key.cluster;
    this.name = object.key.name;
  }

  /** Stored object. */
  get object(): Encoded {
    return this.#object;
  }

  set object(object: Encoded) {
    if (object.uid !== this.#object.uid) this.#live = undefined;
    this.#object = object;
    this.#accepted = undefined;
    this.#scope = undefined;
  }

  get uid(): string {
    return this.#object.uid;
  }

  get group(): string {
    return this.resource.group;
  }

  /** Group and plural of the defined kind. */
  get resource(): GroupResource {
    return resourceNamed(this.name);
  }

  /** Parses the object on each call. @throws ApiError when it cannot be parsed */
  read(): CustomResourceDefinition {
    return decodeObject<CustomResourceDefinition>(this.#object);
  }

  /** Accepted names, which other definitions cannot have. Computed on first use. */
  get accepted(): ReturnType<typeof namesIn> {
    this.#accepted ??= shared(this.read());
    return namesIn(this.#accepted);
  }

  /** Scope of the kind; `undefined` while it is not served. Computed on first use. */
  get scope(): CrdSpec["scope"] | undefined {
    if (this.#scope === undefined) {
      const crd = this.read();
      this.#scope = isServed(crd) ? crd.spec.scope : null;
    }
    return this.#scope ?? undefined;
  }

  /** Served kind, if it is in use; held weakly. */
  get live(): LiveKind | undefined {
    return this.#live?.deref();
  }

  set live(live: LiveKind | undefined) {
    this.#live = live && new WeakRef(live);
  }
}

/** Returns the group and plural in a definition's name `<plural>.<group>`; the core group is `core` there. */
export function resourceNamed(name: string): GroupResource {
  const dot = name.indexOf(".");
  const group = name.slice(dot + 1);
  return { group: group === CORE_GROUP ? "" : group, resource: name.slice(0, dot) };
}

const NONE: CrdNames = Object.freeze({ plural: "", kind: "" });

function shared({ status, spec }: CustomResourceDefinition): CrdNames {
  const accepted = status?.acceptedNames ?? NONE;
  return equalJson(accepted, NONE) ? NONE : equalJson(accepted, spec.names) ? spec.names : accepted;
}

/** Reports whether the definition is established. */
export function isServed({ status }: CustomResourceDefinition): boolean {
  return hasCondition(status, "Established");
}
