import type { GroupResource } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { decodeObject, type Encoded } from "@virtual-workspaces/framework/storage";
import type { CrdNames, CrdSpec, CustomResourceDefinition } from "../definition/definition.ts";
import { hasCondition } from "../definition/definition.ts";
import { namesIn } from "../definition/naming.ts";
import type { LiveKind } from "./live-kind.ts";

/** What is known of a CustomResourceDefinition: the object as it is kept, and what is made of it while somebody uses that. */
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

  /** As it is kept. */
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

  /** What it defines. */
  get resource(): GroupResource {
    return resourceNamed(this.name);
  }

  /** Parsed anew each time. @throws ApiError when it cannot be read */
  read(): CustomResourceDefinition {
    return decodeObject<CustomResourceDefinition>(this.#object);
  }

  /** The names that others cannot have, worked out when somebody wants one. */
  get accepted(): ReturnType<typeof namesIn> {
    this.#accepted ??= shared(this.read());
    return namesIn(this.#accepted);
  }

  /** Whether its objects are in namespaces; `undefined` while it is not served. Worked out when somebody asks. */
  get scope(): CrdSpec["scope"] | undefined {
    if (this.#scope === undefined) {
      const crd = this.read();
      this.#scope = isServed(crd) ? crd.spec.scope : null;
    }
    return this.#scope ?? undefined;
  }

  /** What is served of it, as long as somebody holds it. */
  get live(): LiveKind | undefined {
    return this.#live?.deref();
  }

  set live(live: LiveKind | undefined) {
    this.#live = live && new WeakRef(live);
  }
}

/** What a definition of this name defines: `<plural>.<group>`. */
export function resourceNamed(name: string): GroupResource {
  const dot = name.indexOf(".");
  return { group: name.slice(dot + 1), resource: name.slice(0, dot) };
}

const NONE: CrdNames = Object.freeze({ plural: "", kind: "" });

function shared({ status, spec }: CustomResourceDefinition): CrdNames {
  const accepted = status?.acceptedNames ?? NONE;
  return equalJson(accepted, NONE) ? NONE : equalJson(accepted, spec.names) ? spec.names : accepted;
}

/** Whether it is served at all. */
export function isServed({ status }: CustomResourceDefinition): boolean {
  return hasCondition(status, "Established");
}
