import { formatCauses, quote } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { structuralProblems } from "@virtual-workspaces/apimachinery/schema";
import type { CrdCondition, CrdNames, CrdSpec, CrdStatus, CustomResourceDefinition } from "./definition.ts";
import { approvalOf, conditionOf, isProtectedGroup, marked, withCondition } from "./definition.ts";

/** Names of one group that are in use in a logical cluster. */
export interface TakenNames {
  /** Plurals, singulars and short names. */
  readonly resources: ReadonlySet<string>;
  /** Kinds and kinds of lists. */
  readonly kinds: ReadonlySet<string>;
}

/**
 * Returns the status of a definition, given the names in use: its accepted names, and whether it is established
 * (Kubernetes' naming, establishing, approval and schema controllers). The first definition gets a name and keeps it.
 *
 * @param taken names of others in the same group
 * @returns the same value if nothing changes
 */
export function settledStatus(crd: CustomResourceDefinition, taken: TakenNames, now: Date): CrdStatus {
  const { spec, status = {} } = crd;
  return withApproval(crd, withStructure(spec, withNames(spec, status, { taken, now }), now), now);
}

/** Returns all names of a kind, grouped by where conflicts can occur. */
export function namesIn(names: CrdNames): { readonly resources: readonly string[]; readonly kinds: readonly string[] } {
  const { plural, singular = "", shortNames = [], kind, listKind = "" } = names;
  const given = (name: string): boolean => name !== "";
  return { resources: [plural, singular, ...shortNames].filter(given), kinds: [kind, listKind].filter(given) };
}

interface Circumstances {
  readonly taken: TakenNames;
  readonly now: Date;
}

function withNames({ names }: CrdSpec, status: CrdStatus, { taken, now }: Circumstances): CrdStatus {
  const accepted: CrdNames = status.acceptedNames ?? { plural: "", kind: "" };
  if (equalJson(accepted, names) && conditionOf(status, "NamesAccepted") !== undefined) return established(status, now);
  const { names: next, conflict } = settle(names, accepted, taken);
  const condition: CrdCondition = conflict ?? {
    type: "NamesAccepted",
    status: "True",
    reason: "NoConflicts",
    message: "no conflicts found",
  };
  const named = marked(equalJson(accepted, next) ? status : { ...status, acceptedNames: next }, condition, now);
  return established(named, now);
}

/** Once established, a definition stays so, whatever happens to its names. */
function established(status: CrdStatus, now: Date): CrdStatus {
  if (conditionOf(status, "Established")?.status === "True") return status;
  const accepted = conditionOf(status, "NamesAccepted")?.status === "True";
  const condition = accepted
    ? ({ status: "True", reason: "InitialNamesAccepted", message: "the initial names have been accepted" } as const)
    : ({ status: "False", reason: "NotAccepted", message: "not all names are accepted" } as const);
  return marked(status, { type: "Established", ...condition }, now);
}

interface Settled {
  readonly names: CrdNames;
  readonly conflict: CrdCondition | undefined;
}

/** Of several conflicts, the condition shows the last, as in Kubernetes. */
function settle(wanted: CrdNames, accepted: CrdNames, taken: TakenNames): Settled {
  let names: CrdNames = { ...accepted, ...(wanted.categories && { categories: wanted.categories }) };
  if (wanted.categories === undefined) names = without(names, "categories");
  let conflict: CrdCondition | undefined;
  const refuse = (reason: string, conflicts: readonly string[]): void => {
    const texts = conflicts.map((name) => `${quote(name)} is already in use`);
    const message = texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
    conflict = { type: "NamesAccepted", status: "False", reason: `${reason}Conflict`, message };
  };
  for (const [field, reason, used] of [
    ["plural", "Plural", taken.resources],
    ["singular", "Singular", taken.resources],
    ["shortNames", "ShortNames", taken.resources],
    ["kind", "Kind", taken.kinds],
    ["listKind", "ListKind", taken.kinds],
  ] as const) {
    const own = new Set([accepted[field] ?? []].flat());
    const conflicts = [wanted[field] ?? []].flat().filter((name) => !own.has(name) && used.has(name));
    if (conflicts.length > 0) refuse(reason, conflicts);
    else if (wanted[field] === undefined) names = without(names, field);
    else names = { ...names, [field]: wanted[field] };
  }
  return { names, conflict };
}

function without(names: CrdNames, field: keyof CrdNames): CrdNames {
  const { [field]: _gone, ...others } = names;
  return others as CrdNames;
}

/** Sets NonStructuralSchema, for definitions that were stored before validation rejected such schemas. */
function withStructure({ versions, preserveUnknownFields }: CrdSpec, status: CrdStatus, now: Date): CrdStatus {
  const old = conditionOf(status, "NonStructuralSchema");
  // Admission rejects non-structural schemas; older objects have the deprecated field.
  if (preserveUnknownFields !== true && old === undefined) return status;
  const causes = versions.flatMap(({ schema }, at) =>
    schema?.openAPIV3Schema === undefined
      ? []
      : structuralProblems(schema.openAPIV3Schema, { path: `spec.versions[${at}].schema.openAPIV3Schema` }),
  );
  const texts = [
    ...(preserveUnknownFields === true ? ["spec.preserveUnknownFields: Invalid value: true: must be false"] : []),
    ...(causes.length === 0 ? [] : [formatCauses(causes)]),
  ];
  if (texts.length === 0)
    return { ...status, conditions: (status.conditions ?? []).filter((condition) => condition !== old) };
  const message = texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
  return marked(status, { type: "NonStructuralSchema", status: "True", reason: "Violations", message }, now);
}

const APPROVALS = {
  Approved: { status: "True", reason: "ApprovedAnnotation" },
  Unapproved: { status: "False", reason: "UnapprovedAnnotation" },
  Missing: { status: "False", reason: "MissingAnnotation" },
  Invalid: { status: "False", reason: "InvalidAnnotation" },
} as const;

function withApproval(crd: CustomResourceDefinition, status: CrdStatus, now: Date): CrdStatus {
  if (!isProtectedGroup(crd.spec.group)) return status;
  const { state, message } = approvalOf(crd);
  return marked(status, { type: "KubernetesAPIApprovalPolicyConformant", ...APPROVALS[state], message }, now);
}

/** Returns the status during the cleanup of a deleted definition. */
export function terminating(
  status: CrdStatus,
  condition: Pick<CrdCondition, "status" | "reason" | "message">,
  now: Date,
): CrdStatus {
  return withCondition(status, { type: "Terminating", ...condition }, now);
}
