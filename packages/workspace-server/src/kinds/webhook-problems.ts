import {
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type KubeObject,
  nameProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { matchConditions } from "./match-conditions.ts";
import { itemsOf, membersOf, textOf } from "./problems.ts";
import {
  addressProblems,
  conditionProblems,
  dns1035Problems,
  ruleProblems,
  selectorProblems,
  supported,
  textsOf,
} from "./webhook-fields.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Properties that an update may keep, because the stored object has them. */
interface Kept {
  readonly sideEffects: boolean;
  readonly versions: boolean;
  readonly names: boolean;
  readonly labelValues: boolean;
  readonly conditions: boolean;
}

/** Validates a configuration of webhooks (ValidateMutatingWebhookConfiguration, ValidateValidatingWebhookConfiguration). */
export function webhookProblems(configuration: KubeObject, before: KubeObject | undefined): StatusCause[] {
  const webhooks = itemsOf(configuration["webhooks"]);
  const kept = keptOf(webhooks, before === undefined ? undefined : itemsOf(before["webhooks"]));
  const names = new Set<string>();
  return webhooks.flatMap((webhook, at) => {
    const field = `webhooks[${at}]`;
    const name = textOf(webhook["name"]);
    const isTwice = !kept.names && name !== "" && names.has(name);
    names.add(name);
    return [
      ...problemsOf(webhook, field, kept),
      ...versionProblems(textsOf(webhook["admissionReviewVersions"]), `${field}.admissionReviewVersions`, kept),
      ...(isTwice ? [fieldDuplicate(`${field}.name`, name)] : []),
    ];
  });
}

const NOTHING: Kept = { sideEffects: false, versions: false, names: false, labelValues: false, conditions: false };

function keptOf(webhooks: readonly Fields[], before: readonly Fields[] | undefined): Kept {
  if (before === undefined) return NOTHING;
  const names = before.map(({ name }) => textOf(name)).filter((name) => name !== "");
  const conditions = (all: readonly Fields[]): unknown[] => all.map((one) => one["matchConditions"] ?? []);
  return {
    sideEffects: before.some(({ sideEffects }) => !NO_SIDE_EFFECTS.includes(textOf(sideEffects))),
    versions: before.some(({ admissionReviewVersions }) => {
      const versions = textsOf(admissionReviewVersions);
      return versions.length > 0 && !versions.some((version) => VERSIONS.includes(version));
    }),
    names: new Set(names).size < names.length,
    labelValues: before.some((webhook) =>
      SELECTORS.some((name) => selectorProblems(webhook[name], name, { anyValue: false }).length > 0),
    ),
    conditions: equalJson(conditions(webhooks), conditions(before)),
  };
}

const VERSIONS: readonly string[] = ["v1", "v1beta1"];
const SELECTORS = ["namespaceSelector", "objectSelector"] as const;
const NO_SIDE_EFFECTS: readonly string[] = ["None", "NoneOnDryRun"];
const SIDE_EFFECTS: readonly string[] = ["None", "NoneOnDryRun", "Some", "Unknown"];

function problemsOf(webhook: Fields, field: string, kept: Kept): StatusCause[] {
  const { timeoutSeconds: timeout } = webhook;
  const isTime = timeout === undefined || timeout === null || (Number(timeout) >= 1 && Number(timeout) <= 30);
  return [
    ...hookNameProblems(webhook["name"], `${field}.name`),
    ...itemsOf(webhook["rules"]).flatMap((rule, at) => ruleProblems(rule, `${field}.rules[${at}]`)),
    ...supported(webhook["failurePolicy"], `${field}.failurePolicy`, ["Fail", "Ignore"]),
    ...supported(webhook["matchPolicy"], `${field}.matchPolicy`, ["Equivalent", "Exact"]),
    ...sideEffectProblems(webhook["sideEffects"], `${field}.sideEffects`, kept),
    ...(isTime
      ? []
      : [fieldInvalid(`${field}.timeoutSeconds`, timeout, "the timeout value must be between 1 and 30 seconds")]),
    ...SELECTORS.flatMap((name) => selectorProblems(webhook[name], `${field}.${name}`, { anyValue: kept.labelValues })),
    ...supported(webhook["reinvocationPolicy"], `${field}.reinvocationPolicy`, ["IfNeeded", "Never"]),
    ...addressProblems(membersOf(webhook["clientConfig"]), `${field}.clientConfig`),
    ...(kept.conditions
      ? []
      : conditionProblems(itemsOf(webhook["matchConditions"]), `${field}.matchConditions`, matchConditions)),
  ];
}

/** As IsFullyQualifiedName. The schema reports a missing name. */
function hookNameProblems(value: unknown, field: string): StatusCause[] {
  if (value === undefined) return [];
  const name = textOf(value);
  if (name === "") return [fieldRequired(field)];
  const problems = nameProblems(name);
  if (problems.length > 0) return [fieldInvalid(field, name, problems.join(","))];
  if (name.split(".").length >= 3) return [];
  return [fieldInvalid(field, name, "should be a domain with at least three segments separated by dots")];
}

function sideEffectProblems(value: unknown, field: string, kept: Kept): StatusCause[] {
  const allowed = kept.sideEffects ? SIDE_EFFECTS : NO_SIDE_EFFECTS;
  if (value === undefined || value === null) return [fieldRequired(field, `must specify one of ${allowed.join(", ")}`)];
  return allowed.includes(textOf(value)) ? [] : [fieldNotSupported(field, value, allowed)];
}

function versionProblems(versions: readonly string[], field: string, kept: Kept): StatusCause[] {
  if (versions.length === 0) return [fieldRequired(field, `must specify one of ${VERSIONS.join(", ")}`)];
  const known = kept.versions || versions.some((version) => VERSIONS.includes(version));
  return [
    ...versions.flatMap((version, at) => {
      const place = `${field}[${at}]`;
      if (versions.indexOf(version) < at) return [fieldInvalid(place, version, "duplicate version")];
      return dns1035Problems(version).map((problem) => fieldInvalid(place, version, problem));
    }),
    ...(known ? [] : [fieldInvalid(field, versions, `must include at least one of ${VERSIONS.join(", ")}`)]),
  ];
}
