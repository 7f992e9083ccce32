import { fieldRequired } from "../../field-cause.ts";
import type { JsonSchema } from "../../schema.ts";
import type { StatusCause } from "../../status.ts";

/** The schema of a value's structure, if there is one, and where it is. */
interface Structural {
  readonly schema: JsonSchema | undefined;
  readonly path: string;
}

/** Fields that the root's `allOf`, `anyOf`, `oneOf` or `not` say something about, and that it does not have. */
export function completenessProblems(schema: JsonSchema, path: string): StatusCause[] {
  return insideProblems(schema, path, { schema, path });
}

function insideProblems(values: JsonSchema, path: string, structural: Structural): StatusCause[] {
  const each = (list: readonly JsonSchema[] | undefined, keyword: string): StatusCause[] =>
    (list ?? []).flatMap((item, at) => nestedProblems(item, `${path}.${keyword}[${at}]`, structural));
  return [
    ...(values.not === undefined ? [] : nestedProblems(values.not, `${path}.not`, structural)),
    ...each(values.allOf, "allOf"),
    ...each(values.anyOf, "anyOf"),
    ...each(values.oneOf, "oneOf"),
  ];
}

function nestedProblems(values: JsonSchema, path: string, structural: Structural): StatusCause[] {
  const { schema } = structural;
  if (schema === undefined) return [fieldRequired(structural.path, `because it is defined in ${path}`)];
  const below = (name: string): Structural & { readonly values: string } => ({
    schema: undefined,
    path: `${structural.path}.${name}`,
    values: `${path}.${name}`,
  });
  const causes = insideProblems(values, path, structural);
  if (values.items !== undefined) {
    const items = below("items");
    causes.push(...nestedProblems(values.items, items.values, { ...items, schema: schema.items }));
  }
  for (const [name, property] of Object.entries(values.properties ?? {})) {
    const member = below(`properties[${name}]`);
    const { properties = {} } = schema;
    const found = Object.hasOwn(properties, name) ? properties[name] : undefined;
    causes.push(...nestedProblems(property, member.values, { ...member, schema: found }));
  }
  return causes;
}
