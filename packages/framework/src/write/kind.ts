import { createHash } from "node:crypto";
import { apiVersionOf, type JsonSchema, type KubeObject, type StatusCause } from "@virtual-workspaces/apimachinery";
import type { KindVersions, ResourceDefinition } from "../definition.ts";
import { scaleFields, scaleProblems } from "../resource/scale/scale-fields.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { fieldOwners } from "./field-owners.ts";
import { SchemaRules } from "./schema-rules.ts";
import type { Part } from "./update.ts";
import type { KindRules } from "./write-rules.ts";

/** Values by content, kept only while they are used. */
class WeakIntern<Value extends object> {
  readonly #values = new Map<string, WeakRef<Value>>();
  readonly #gone = new FinalizationRegistry<string>((key) => {
    if (this.#values.get(key)?.deref() === undefined) this.#values.delete(key);
  });

  /** Number of entries, including values that are about to be collected. */
  get size(): number {
    return this.#values.size;
  }

  /** Returns the value of a key; makes it when there is none. */
  get(key: string, make: () => Value): Value {
    const known = this.#values.get(key)?.deref();
    if (known !== undefined) return known;
    const value = make();
    this.#values.set(key, new WeakRef(value));
    this.#gone.register(value, key);
    return value;
  }
}

/** Compiled schemas by content: a thousand kinds with one schema share one. Unused ones are collected. */
const schemas = new WeakIntern<SchemaRules>();
/** Compiled schemas by identity: a kind that is served in many places, or again, is compiled once. */
const known = new WeakMap<JsonSchema, SchemaRules>();

type Problems = Awaitable<readonly StatusCause[]>;

/**
 * Returns the rules of a kind, which may have other versions.
 *
 * @throws Error on a schema that Kubernetes rejects; with `lazySchema` the rules throw when they are first used
 */
export function kindRules(definition: ResourceDefinition, versions?: KindVersions): KindRules {
  const { subresources, lazySchema = false } = definition;
  const compiled = (): SchemaRules => known.get(definition.schema) ?? compile(definition);
  if (!lazySchema) compiled();
  const scaled = subresources.scale === undefined ? undefined : scaleFields(subresources.scale);
  const withScale = (object: KubeObject, part: Part, found: Problems): Problems => {
    if (scaled === undefined) return found;
    const problems = scaleProblems(object, scaled, part);
    return found instanceof Promise ? found.then((all) => [...all, ...problems]) : [...found, ...problems];
  };
  return {
    prune: (object) => compiled().prune(object),
    pruneUnknown: (object) => compiled().pruneUnknown(object),
    fillDefaults: (object) => {
      compiled().fillDefaults(object);
      definition.strategy?.defaults?.(object);
    },
    problems: (object, options) => withScale(object, options.part, compiled().problems(object, options)),
    fields: fieldOwners(definition, versions),
  };
}

function compile(definition: ResourceDefinition): SchemaRules {
  const { schema } = definition;
  const hash = createHash("sha256").update(JSON.stringify(schema)).digest("base64");
  const compiled = schemas.get(hash, () => schemaRules(definition));
  known.set(schema, compiled);
  return compiled;
}

function schemaRules({ schema, kind, group, version }: ResourceDefinition): SchemaRules {
  try {
    return new SchemaRules(schema);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(
      `the schema of ${kind} (${apiVersionOf({ group, version })}) is not valid in Kubernetes: ${message}`,
    );
  }
}

/**
 * Brings a stored object to the current definition of its kind: its version, without fields outside the schema, with
 * defaults. Kubernetes does so whenever it reads a custom resource. Without a conversion only the name of the version
 * changes, as with `None`. Changes its argument.
 *
 * @throws ApiError of a conversion
 */
export function asDefined(object: KubeObject, definition: ResourceDefinition, versions: KindVersions): KubeObject {
  const apiVersion = apiVersionOf(definition);
  const converted = object.apiVersion === apiVersion ? object : versions.convert(object, apiVersion);
  const result = { ...converted, apiVersion, kind: definition.kind };
  const rules = kindRules(definition, versions);
  rules.prune(result);
  rules.fillDefaults(result);
  return result;
}
