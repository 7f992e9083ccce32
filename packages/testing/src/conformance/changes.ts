import type { Mutations, ObjectName } from "./options.ts";
import { skip } from "./outcome.ts";
import type { ConformanceResource } from "./report.ts";
import type { ResourceProbe } from "./resource-probe.ts";

/** The objects that a check makes. What it leaves is deleted at the end of its `await using` block. */
export class Changes implements AsyncDisposable {
  readonly #resource: ConformanceResource;
  readonly #hooks: Mutations;
  readonly #made = new Map<string, ObjectName>();

  constructor({ resource, mutations }: ResourceProbe) {
    if (mutations === undefined) skip("needs the mutate hooks");
    this.#resource = resource;
    this.#hooks = mutations;
  }

  async create(): Promise<ObjectName> {
    const name = await this.#hooks.create(this.#resource);
    if (name === undefined) skip("the mutate hooks cannot create objects of this resource");
    this.#made.set(`${name.namespace}/${name.name}`, name);
    return name;
  }

  async update(name: ObjectName): Promise<void> {
    await this.#hooks.update(this.#resource, name);
  }

  async delete(name: ObjectName): Promise<void> {
    this.#made.delete(`${name.namespace}/${name.name}`);
    await this.#hooks.delete(this.#resource, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.#made.values()) await this.#hooks.delete(this.#resource, name);
  }
}
