// Checks objects against Kubernetes' API, as the models of @kubernetes/client-node describe it: names and types of fields, and
// which are required.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import * as models from "@kubernetes/client-node";

interface Model {
  getAttributeTypeMap(): readonly { readonly baseName: string; readonly type: string }[];
}

const FOLDER = join(dirname(createRequire(import.meta.url).resolve("@kubernetes/client-node")), "gen/models");
const SCALARS: Readonly<Record<string, readonly string[]>> = {
  string: ["string"],
  number: ["number"],
  boolean: ["boolean"],
  IntOrString: ["string", "number"],
};

/** Returns the problems of an object, each with its path. @param model such as `V1Deployment` */
export function problemsOf(value: unknown, model: string, path = model): readonly string[] {
  const [, item] = /^Array<(.+)>$/.exec(model) ?? [];
  if (item !== undefined)
    return Array.isArray(value)
      ? value.flatMap((one, at) => problemsOf(one, item, `${path}[${at}]`))
      : [`${path} is not a list`];
  const [, member] = /^\{ \[key: string\]: (.+); \}$/.exec(model) ?? [];
  if (member !== undefined)
    return isObject(value)
      ? Object.entries(value).flatMap(([key, one]) => problemsOf(one, member, `${path}.${key}`))
      : [`${path} is not a map`];
  const scalar = SCALARS[model];
  if (scalar !== undefined) return scalar.includes(typeof value) ? [] : [`${path} is not a ${model}`];
  const found = (models as unknown as Readonly<Record<string, Model | undefined>>)[model];
  if (found === undefined) throw new Error(`${path}: there is no model ${model}`);
  if (!isObject(value)) return [`${path} is not an object`];
  const types = new Map(found.getAttributeTypeMap().map(({ baseName, type }) => [baseName, type]));
  return [
    ...Object.entries(value).flatMap(([key, one]) => {
      const type = types.get(key);
      return type === undefined ? [`${path}.${key} is no field`] : problemsOf(one, type, `${path}.${key}`);
    }),
    ...requiredOf(model).flatMap((key) => (Object.hasOwn(value, key) ? [] : [`${path}.${key} is missing`])),
  ];
}

/** Fields without a question mark in the type declarations. */
function requiredOf(model: string): readonly string[] {
  const text = readFileSync(join(FOLDER, `${model}.d.ts`), "utf8");
  return [...text.matchAll(/^ {4}'(\w+)': /gm)].map(([, name = ""]) => name);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
