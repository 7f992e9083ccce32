import type { JsonObject } from "../json/value.ts";
import type { JsonSchema } from "../schema.ts";
import { compileNode } from "./compile-node.ts";
import { nativePattern, type PatternCompiler, type SchemaNode } from "./node.ts";
import { Place } from "./place.ts";
import { type RuleSite, walkRules } from "./rules.ts";

/** How a schema is read. */
export interface DefaultRuleSitesOptions {
  /** The field of the schema in problems. @default "schema" */
  readonly path?: string;
  /** @default ECMAScript's own */
  readonly pattern?: PatternCompiler;
}

/** The sites of one default: as of a value that is made, and as of one that stays as it is, about which rules may speak that use `oldSelf`. */
export interface DefaultRuleSites {
  readonly made: readonly RuleSite[];
  readonly kept: readonly RuleSite[];
}

/**
 * Where `x-kubernetes-validations` are about the defaults of a schema: an API server takes no default that its own rules refuse, and
 * nothing else is set within it before they are asked (apiextensions' defaulting.ValidateDefaults).
 */
export function* defaultRuleSites(
  schema: JsonSchema,
  { path = "schema", pattern = nativePattern }: DefaultRuleSitesOptions = {},
): Generator<DefaultRuleSites> {
  const root = compileNode(schema, { pattern, forDefaults: true });
  if (root.tasks.rules) yield* sitesBelow(root, path);
}

function* sitesBelow(node: SchemaNode, path: string): Generator<DefaultRuleSites> {
  if (node.default !== undefined && node.tasks.rules) {
    const place = Place.root.child(`${path}.default`);
    const value = node.default as JsonObject;
    const sites = (old: JsonObject | undefined): RuleSite[] => [...walkRules(node, value, { old, place })];
    yield { made: sites(undefined), kept: sites(value) };
  }
  if (node.items !== undefined) yield* sitesBelow(node.items, `${path}.items`);
  for (const [name, property] of node.properties ?? []) yield* sitesBelow(property, `${path}.properties[${name}]`);
}
