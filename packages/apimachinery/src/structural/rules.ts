import type { JsonSchema, ValidationRule } from "../schema.ts";

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

/** The `field` of the cause of a site's rule: the site's path, with the rule's own `fieldPath` normalized behind it. */
export function ruleField(site: RuleSite, normalized = ""): string {
  if (normalized === "") return site.path === "" ? "<nil>" : site.path;
  return site.path === "" ? normalized : `${site.path}.${normalized}`;
}
