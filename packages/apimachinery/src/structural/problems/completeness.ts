import type { Causes } from "../../bounded-causes.ts";
import { fieldRequired } from "../../field-cause.ts";
import type { JsonSchema } from "../../schema.ts";
import { propertyOf } from "./property-of.ts";

/** The schema of a value's structure, if there is one, and where it is. */
interface Structural {
  readonly schema: JsonSchema | undefined;
  readonly path: string;
}

/** Fields that the root's `allOf`, `anyOf`, `oneOf` or `not` say something about, and that it does not have. */
export function completenessProblems(schema: JsonSchema, path: string): Causes {
  return insideProblems(schema, path, { schema, path });
}

function* insideProblems(values: JsonSchema, path: string, structural: Structural): Causes {
  if (values.not !== undefined) yield* nestedProblems(values.not, `${path}.not`, structural);
  for (const keyword of ["allOf", "anyOf", "oneOf"] as const)
    for (const [at, item] of (values[keyword] ?? []).entries())
      yield* nestedProblems(item, `${path}.${keyword}[${at}]`, structural);
}

function* nestedProblems(values: JsonSchema, path: string, structural: Structural): Causes {
  const { schema } = structural;
  if (schema === undefined) {
    yield fieldRequired(structural.path, `because it is defined in ${path}`);
    return;
  }
  const below = (name: string): Structural & { readonly values: string } => ({
    schema: undefined,
    path: `${structural.path}.${name}`,
    values: `${path}.${name}`,
  });
  yield* insideProblems(values, path, structural);
  if (values.items !== undefined) {
    const items = below("items");
    yield* nestedProblems(values.items, items.values, { ...items, schema: schema.items });
  }
  for (const [name, property] of Object.entries(values.properties ?? {})) {
    const member = below(`properties[${name}]`);
    yield* nestedProblems(property, member.values, { ...member, schema: propertyOf(schema, name) });
  }
}
