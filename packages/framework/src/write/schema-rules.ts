import {
  compileSchema,
  type JsonSchema,
  type KubeObject,
  type StatusCause,
  type StructuralSchema,
} from "@virtual-workspaces/apimachinery";
import { linearPattern } from "../cel/pattern.ts";
import type { Awaitable } from "../storage.ts";
import type { CheckOptions } from "./rules.ts";

/** A schema, compiled: it holds for all kinds that have it. */
export class SchemaRules {
  readonly #structural: StructuralSchema;

  /** @throws Error on a schema that Kubernetes would not take */
  constructor(schema: JsonSchema) {
    this.#structural = compileSchema(schema, { pattern: linearPattern });
  }

  prune(object: KubeObject): readonly string[] {
    return this.#structural.prune(object);
  }

  fillDefaults(object: KubeObject): void {
    this.#structural.setDefaults(object);
  }

  problems(object: KubeObject, { before, part }: CheckOptions): Awaitable<readonly StatusCause[]> {
    return part === "status" && before !== undefined
      ? this.#structural.validateStatus(object, before)
      : this.#structural.validate(object, before);
  }
}
