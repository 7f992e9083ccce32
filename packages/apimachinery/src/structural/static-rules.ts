import type { JsonSchema, ValidationRule } from "../schema.ts";

/** One place of a schema that has rules, for the estimate of their cost before anything is validated. */
export interface StaticRuleSite {
  readonly rules: readonly ValidationRule[];
  readonly schema: JsonSchema;
  /** The schema's own path: `properties[spec].properties[ports].items`; "" is the root. */
  readonly path: string;
  /** How many values can be there at most, by maxItems and maxProperties of what is around; `undefined` if unbounded. */
  readonly maxCardinality: number | undefined;
  readonly resourceRoot: boolean;
  /**
   * The path of the nearest list to the root whose items cannot be found in an old object, so that `oldSelf` may not be
   * used here; `undefined` if there is none.
   */
  readonly uncorrelatable: string | undefined;
}

/** Every place of a schema that has `x-kubernetes-validations`, parents first, properties in the schema's order. */
export function ruleSites(schema: JsonSchema): StaticRuleSite[] {
  return [...sitesBelow({ schema, path: "", maxCardinality: 1, uncorrelatable: undefined, root: true })];
}

interface SchemaPlace {
  readonly schema: JsonSchema;
  readonly path: string;
  readonly maxCardinality: number | undefined;
  readonly uncorrelatable: string | undefined;
  readonly root?: boolean;
}

function* sitesBelow(place: SchemaPlace): Generator<StaticRuleSite> {
  const { schema, path, maxCardinality, uncorrelatable } = place;
  const rules = schema["x-kubernetes-validations"] ?? [];
  const resourceRoot = place.root === true || schema["x-kubernetes-embedded-resource"] === true;
  if (rules.length > 0) yield { rules, schema, path, maxCardinality, resourceRoot, uncorrelatable };

  const below = times(maxCardinality, elementsOf(schema));
  const child = (name: string, member: JsonSchema): SchemaPlace => ({
    schema: member,
    path: path === "" ? name : `${path}.${name}`,
    maxCardinality: below,
    uncorrelatable,
  });
  if (typeof schema.additionalProperties === "object")
    yield* sitesBelow(child("additionalProperties", schema.additionalProperties));
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    yield* sitesBelow(child(`properties[${name}]`, member));
  if (schema.items !== undefined) {
    const lost = schema["x-kubernetes-list-type"] === "map" ? uncorrelatable : (uncorrelatable ?? path);
    yield* sitesBelow({ ...child("items", schema.items), uncorrelatable: lost });
  }
}

/** How many values a value can have below it for each of its children's schemas (apiextensions' extractMaxElements). */
function elementsOf(schema: JsonSchema): number | undefined {
  if (schema.type === "array") return atLeast0(schema.maxItems);
  return schema.type === "object" && schema.additionalProperties !== undefined ? atLeast0(schema.maxProperties) : 1;
}

function atLeast0(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.max(value, 0);
}

function times(cardinality: number | undefined, elements: number | undefined): number | undefined {
  return cardinality === undefined || elements === undefined ? undefined : cardinality * elements;
}
