import { quote } from "@virtual-workspaces/apimachinery";
import type { PolicyRule } from "@virtual-workspaces/framework/authz";

/** Part of a rule: one verb on one resource, with one name if the rule has names, or on one path. */
type Atom = PolicyRule;

const ALL = "*";
const NONE: readonly string[] = [];

/** Returns the parts of wanted rules that no held rule covers (Kubernetes' `Covers`), one verb and resource each. */
export function uncovered(wanted: readonly PolicyRule[], held: readonly PolicyRule[]): readonly PolicyRule[] {
  return wanted.flatMap(atomsOf).filter((atom) => !held.some((rule) => covers(rule, atom)));
}

function atomsOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): readonly Atom[] {
  const names = (resourceNames ?? NONE).length === 0 ? [undefined] : (resourceNames ?? NONE);
  const onResources = (apiGroups ?? NONE).flatMap((group) =>
    (resources ?? NONE).flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map(
          (name): Atom => ({
            verbs: [verb],
            apiGroups: [group],
            resources: [resource],
            ...(name !== undefined && { resourceNames: [name] }),
          }),
        ),
      ),
    ),
  );
  const onPaths = (nonResourceURLs ?? NONE).flatMap((url) =>
    verbs.map((verb): Atom => ({ verbs: [verb], nonResourceURLs: [url] })),
  );
  return [...onResources, ...onPaths];
}

function covers(rule: PolicyRule, atom: Atom): boolean {
  const { apiGroups = NONE, resources = NONE, resourceNames = NONE, nonResourceURLs = NONE } = rule;
  const named =
    resourceNames.length === 0 || (atom.resourceNames?.every((one) => resourceNames.includes(one)) ?? false);
  return (
    hasAll(rule.verbs, atom.verbs) &&
    hasAll(apiGroups, atom.apiGroups ?? NONE) &&
    (atom.resources ?? NONE).every((one) => coversResource(resources, one)) &&
    (atom.nonResourceURLs ?? NONE).every((one) => nonResourceURLs.some((url) => coversPath(url, one))) &&
    named
  );
}

function hasAll(set: readonly string[], wanted: readonly string[]): boolean {
  return set.includes(ALL) || wanted.every((one) => set.includes(one));
}

function coversResource(set: readonly string[], wanted: string): boolean {
  if (set.includes(ALL) || set.includes(wanted)) return true;
  const slash = wanted.indexOf("/");
  return slash >= 0 && set.includes(`*${wanted.slice(slash)}`);
}

function coversPath(url: string, wanted: string): boolean {
  return url === wanted || (url.endsWith(ALL) && wanted.startsWith(url.replace(/\*+$/, "")));
}

/** Formats rules as Kubernetes does: sorted, with one entry for each resource. */
export function describeRules(atoms: readonly PolicyRule[]): string {
  return [...new Set(compacted(atoms).map(describeRule))].sort().join("\n");
}

function compacted(atoms: readonly Atom[]): readonly PolicyRule[] {
  const verbs = new Map<string, { readonly rule: Atom; readonly verbs: string[] }>();
  for (const rule of atoms) {
    const { verbs: own, ...thing } = rule;
    // Kubernetes does not merge verbs on a path.
    const key = rule.nonResourceURLs === undefined ? JSON.stringify(thing) : JSON.stringify(rule);
    const known = verbs.get(key);
    if (known === undefined) verbs.set(key, { rule, verbs: [...own] });
    else known.verbs.push(...own);
  }
  return [...verbs.values()].map(({ rule, verbs: all }) => ({ ...rule, verbs: all }));
}

function describeRule({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts = Object.entries({
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  });
  const shown = parts.flatMap(([name, values = NONE]) => (values.length > 0 ? `${name}:${goTexts(values)}` : []));
  return `{${shown.join(", ")}}`;
}

/** Formats a list of strings as Go does. */
export function goTexts(texts: readonly string[]): string {
  return `[${texts.map(quote).join(" ")}]`;
}
