import { isJsonObject, type JsonObject } from "../json/value.ts";
import type { JsonSchema, ValidationRule } from "../schema.ts";
import { OldItems, Unchanged } from "./correlate.ts";
import { memberNode, type SchemaNode } from "./node.ts";
import { Place } from "./place.ts";

/**
 * One value of an object, and the `x-kubernetes-validations` that are about it. A CEL evaluator needs no walker of its
 * own: it runs the rules of each site over `self` and `oldSelf`.
 *
 * - Rules whose expression uses `oldSelf` run only if `oldSelf` is not `undefined`, or if they have `optionalOldSelf`.
 * - What a rule that does not use `oldSelf` says about a site that is `unchanged` is a warning, not an error
 *   (ratcheting).
 * - There is no site for a value that is null, as in Kubernetes.
 */
export interface RuleSite {
  readonly rules: readonly ValidationRule[];
  readonly schema: JsonSchema;
  /**
   * The field as Kubernetes names it in errors: `spec.ports[1].name`, `spec.map[key]`. "" is the object itself; the
   * `field` of its cause is {@link ruleField}'s.
   */
  readonly path: string;
  readonly self: unknown;
  /** What the value was: found by map key and list-map key; `undefined` if there is none, or it was null. */
  readonly oldSelf: unknown | undefined;
  /** Whether the value is the root of a resource, so that apiVersion, kind, metadata.name and generateName may be read. */
  readonly resourceRoot: boolean;
  /** Whether the value, or what is around it where it cannot be found in the old object, is as it was. Compared when read. */
  readonly unchanged: boolean;
}

/** The `field` of the cause of a site's rule: the site's path, with the rule's own `fieldPath` normalized behind it. */
export function ruleField(site: RuleSite, normalized = ""): string {
  if (normalized === "") return site.path === "" ? "<nil>" : site.path;
  return site.path === "" ? normalized : `${site.path}.${normalized}`;
}

/** A value on the way, with what is known of the old object. */
interface Visited {
  readonly value: unknown;
  readonly node: SchemaNode;
  readonly place: Place;
  readonly oldSelf: unknown;
  /** What it is compared with for ratcheting; undefined if it cannot be found in the old object. */
  readonly pair: Pair | undefined;
  /** The nearest that can be found, if it cannot. */
  readonly around: Pair | undefined;
}

interface Pair {
  readonly node: SchemaNode;
  readonly value: unknown;
  readonly old: unknown;
}

/** What a value was, and where it is: a root is a resource. */
export interface Walked {
  readonly old: JsonObject | undefined;
  readonly place?: Place;
}

/** The sites of an object, parents first, members in the object's order (apiextensions' cel.Validator). */
export function* walkRules(
  root: SchemaNode,
  object: JsonObject,
  { old, place = Place.root }: Walked,
): Generator<RuleSite> {
  if (!root.tasks.rules) return;
  const pair = old === undefined ? undefined : { node: root, value: object, old };
  const start = { value: object, node: root, place, oldSelf: old, pair, around: undefined };
  yield* sitesOf(start, new Unchanged());
}

function* sitesOf(at: Visited, unchanged: Unchanged): Generator<RuleSite> {
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
      const typeMeta = at.place === Place.root && (name === "apiVersion" || name === "kind");
      const pair =
        typeMeta || at.pair === undefined ? undefined : pairOf(member, value[name], memberOf(at.pair.old, name));
      const next = typeMeta ? { pair: undefined, around: undefined } : below(at, pair);
      yield* sitesOf({ ...next, value: value[name], node: member, place, oldSelf }, unchanged);
    }
  }
}

function below(at: Visited, pair: Pair | undefined): Pick<Visited, "pair" | "around"> {
  return { pair, around: at.pair ?? at.around };
}

function pairOf(node: SchemaNode, value: unknown, old: unknown): Pair | undefined {
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
  readonly #place: Place;
  readonly #compared: Pair | undefined;
  readonly #unchanged: Unchanged;

  constructor({ value, node, place, oldSelf, pair, around }: Visited, unchanged: Unchanged) {
    this.rules = node.rules;
    this.schema = node.schema;
    this.self = value;
    this.oldSelf = oldSelf;
    this.resourceRoot = node.embedded || place === Place.root;
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
