import { isJsonObject, type JsonObject } from "../json/value.ts";
import type { JsonSchema, ValidationRule } from "../schema.ts";
import { compileNode } from "./compile-node.ts";
import { OldItems, Unchanged } from "./correlate.ts";
import { memberNode, nativePattern, type PatternCompiler, type SchemaNode } from "./node.ts";
import { FieldPath } from "./walk.ts";

/**
 * Value of an object, with the `x-kubernetes-validations` that apply to it. A CEL evaluator needs no walker of its own: it
 * runs the rules of each site over `self` and `oldSelf`.
 *
 * - Rules whose expression uses `oldSelf` run only if `oldSelf` is not `undefined`, or if they have `optionalOldSelf`.
 * - On an `unchanged` site, the failure of a rule without `oldSelf` is a warning, not an error (ratcheting).
 * - A null value has no site, as in Kubernetes.
 */
export interface RuleSite {
  readonly rules: readonly ValidationRule[];
  readonly schema: JsonSchema;
  /**
   * Path as Kubernetes reports it: `spec.ports[1].name`, `spec.map[key]`. "" is the object itself; {@link ruleField} gives
   * the `field` of its cause.
   */
  readonly path: string;
  readonly self: unknown;
  /** Old value, found by map key and list-map key; `undefined` if there is none, or it was null. */
  readonly oldSelf: unknown | undefined;
  /** Whether the value is the root of a resource, so that rules may read apiVersion, kind, metadata.name and generateName. */
  readonly resourceRoot: boolean;
  /**
   * Whether the value is unchanged; for a value that the old object lacks, whether its nearest known parent is. Computed on
   * reading.
   */
  readonly unchanged: boolean;
}

/** Returns the `field` of the cause of a site's rule: the site's path, followed by the rule's normalized `fieldPath`. */
export function ruleField(site: RuleSite, normalized = ""): string {
  if (normalized === "") return site.path === "" ? "<nil>" : site.path;
  return site.path === "" ? normalized : `${site.path}.${normalized}`;
}

/** Value during the walk, with its counterpart in the old object. */
interface VisitedValue {
  readonly value: unknown;
  readonly node: SchemaNode;
  readonly place: FieldPath;
  readonly oldSelf: unknown;
  /** Values to compare for ratcheting; undefined if the old object has no counterpart. */
  readonly pair: ComparedValue | undefined;
  /** Nearest parent with a counterpart, if the value has none. */
  readonly around: ComparedValue | undefined;
}

interface ComparedValue {
  readonly node: SchemaNode;
  readonly value: unknown;
  readonly old: unknown;
}

/** Old object, and the position of the new one: a root is a resource. */
export interface Walked {
  readonly old: JsonObject | undefined;
  readonly place?: FieldPath;
}

/** Yields the sites of an object, parents first, members in the object's order (apiextensions' cel.Validator). */
export function* walkRules(
  root: SchemaNode,
  object: JsonObject,
  { old, place = FieldPath.root }: Walked,
): Generator<RuleSite> {
  if (!root.tasks.rules) return;
  const pair = old === undefined ? undefined : { node: root, value: object, old };
  const start = { value: object, node: root, place, oldSelf: old, pair, around: undefined };
  yield* sitesOf(start, new Unchanged());
}

function* sitesOf(at: VisitedValue, unchanged: Unchanged): Generator<RuleSite> {
  const { value, node } = at;
  if (value === null || value === undefined) return;
  if (node.rules.length > 0) yield new Site(at, unchanged);
  if (Array.isArray(value)) {
    const { items } = node;
    if (!items?.tasks.rules) return;
    const oldItems = OldItems.of(node, at.oldSelf);
    const pairItems = at.pair === undefined ? undefined : OldItems.of(node, at.pair.old);
    for (const [index, item] of value.entries()) {
      const pair = pairOf(items, item, pairItems?.find(item));
      yield* sitesOf(
        { ...below(at, pair), value: item, node: items, place: at.place.item(index), oldSelf: oldItems?.find(item) },
        unchanged,
      );
    }
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) {
      const member = memberNode(node, name);
      if (!member?.tasks.rules) continue;
      const place = node.properties?.has(name) ? at.place.child(name) : at.place.key(name);
      const oldSelf = memberOf(at.oldSelf, name) ?? undefined;
      // apiVersion and kind of an object cannot be compared: both objects were converted to the same version.
      const typeMeta = at.place === FieldPath.root && (name === "apiVersion" || name === "kind");
      const pair =
        typeMeta || at.pair === undefined ? undefined : pairOf(member, value[name], memberOf(at.pair.old, name));
      const next = typeMeta ? { pair: undefined, around: undefined } : below(at, pair);
      yield* sitesOf({ ...next, value: value[name], node: member, place, oldSelf }, unchanged);
    }
  }
}

function below(at: VisitedValue, pair: ComparedValue | undefined): Pick<VisitedValue, "pair" | "around"> {
  return { pair, around: at.pair ?? at.around };
}

function pairOf(node: SchemaNode, value: unknown, old: unknown): ComparedValue | undefined {
  return old === undefined ? undefined : { node, value, old };
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

class Site implements RuleSite {
  readonly rules: readonly ValidationRule[];
  readonly schema: JsonSchema;
  readonly self: unknown;
  readonly oldSelf: unknown;
  readonly resourceRoot: boolean;
  readonly #place: FieldPath;
  readonly #compared: ComparedValue | undefined;
  readonly #unchanged: Unchanged;

  constructor({ value, node, place, oldSelf, pair, around }: VisitedValue, unchanged: Unchanged) {
    this.rules = node.rules;
    this.schema = node.schema;
    this.self = value;
    this.oldSelf = oldSelf;
    this.resourceRoot = node.embedded || place === FieldPath.root;
    this.#place = place;
    this.#compared = pair ?? around;
    this.#unchanged = unchanged;
  }

  get path(): string {
    return this.#place.toString();
  }

  get unchanged(): boolean {
    const pair = this.#compared;
    return pair !== undefined && this.#unchanged.test(pair.node, pair.value, pair.old);
  }
}

/** Options of {@link defaultRuleSites}. */
export interface DefaultRuleSitesOptions {
  /** Path of the schema in problems. @default "schema" */
  readonly path?: string;
  /** @default ECMAScript's own */
  readonly pattern?: PatternCompiler;
}

/** Sites of one default: as a created value, and as an unchanged one, for rules that use `oldSelf`. */
export interface DefaultRuleSites {
  readonly made: readonly RuleSite[];
  readonly kept: readonly RuleSite[];
}

/**
 * Yields the sites of a schema's defaults. An API server rejects a default that breaks its own rules, and checks them before
 * it sets anything within the default (apiextensions' defaulting.ValidateDefaults).
 */
export function* defaultRuleSites(
  schema: JsonSchema,
  { path = "schema", pattern = nativePattern }: DefaultRuleSitesOptions = {},
): Generator<DefaultRuleSites> {
  const root = compileNode(schema, { pattern, forDefaults: true });
  if (root.tasks.rules) yield* defaultSitesBelow(root, path);
}

function* defaultSitesBelow(node: SchemaNode, path: string): Generator<DefaultRuleSites> {
  if (node.default !== undefined && node.tasks.rules) {
    const place = FieldPath.root.child(`${path}.default`);
    const value = node.default as JsonObject;
    const sites = (old: JsonObject | undefined): RuleSite[] => [...walkRules(node, value, { old, place })];
    yield { made: sites(undefined), kept: sites(value) };
  }
  if (node.items !== undefined) yield* defaultSitesBelow(node.items, `${path}.items`);
  for (const [name, property] of node.properties ?? [])
    yield* defaultSitesBelow(property, `${path}.properties[${name}]`);
}

/** Position of a schema that has rules, to estimate their cost before any validation. */
export interface StaticRuleSite {
  readonly rules: readonly ValidationRule[];
  readonly schema: JsonSchema;
  /** Path within the schema: `properties[spec].properties[ports].items`; "" is the root. */
  readonly path: string;
  /** Maximum number of values at this position, by maxItems and maxProperties of its parents; `undefined` if unbounded. */
  readonly maxCardinality: number | undefined;
  readonly resourceRoot: boolean;
  /**
   * Path of the outermost list whose items have no counterparts in an old object, so that rules here cannot use `oldSelf`;
   * `undefined` if there is none.
   */
  readonly uncorrelatable: string | undefined;
}

/** Returns every position of a schema that has `x-kubernetes-validations`, parents first, properties in the schema's order. */
export function ruleSites(schema: JsonSchema): StaticRuleSite[] {
  return [...staticSitesBelow({ schema, path: "", maxCardinality: 1, uncorrelatable: undefined, root: true })];
}

interface StaticPosition {
  readonly schema: JsonSchema;
  readonly path: string;
  readonly maxCardinality: number | undefined;
  readonly uncorrelatable: string | undefined;
  readonly root?: boolean;
}

function* staticSitesBelow(place: StaticPosition): Generator<StaticRuleSite> {
  const { schema, path, maxCardinality, uncorrelatable } = place;
  const rules = schema["x-kubernetes-validations"] ?? [];
  const resourceRoot = place.root === true || schema["x-kubernetes-embedded-resource"] === true;
  if (rules.length > 0) yield { rules, schema, path, maxCardinality, resourceRoot, uncorrelatable };

  const below = times(maxCardinality, elementsOf(schema));
  const child = (name: string, member: JsonSchema): StaticPosition => ({
    schema: member,
    path: path === "" ? name : `${path}.${name}`,
    maxCardinality: below,
    uncorrelatable,
  });
  if (typeof schema.additionalProperties === "object")
    yield* staticSitesBelow(child("additionalProperties", schema.additionalProperties));
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    yield* staticSitesBelow(child(`properties[${name}]`, member));
  if (schema.items !== undefined) {
    const lost = schema["x-kubernetes-list-type"] === "map" ? uncorrelatable : (uncorrelatable ?? path);
    yield* staticSitesBelow({ ...child("items", schema.items), uncorrelatable: lost });
  }
}

/** Returns the maximum number of children of a value, for each of its children's schemas (apiextensions' extractMaxElements). */
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
