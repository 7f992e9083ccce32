import {
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type KubeObject,
  labelKeyProblems,
  nameProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import type { ComposedExpressions, LazyExpressions, WantedType } from "@virtual-workspaces/framework/resource";
import { type PolicyVariables, policyExpressions } from "./policy-expressions.ts";
import {
  actionProblems,
  isIdentifier,
  matchProblems,
  mutableProblems,
  paramKindProblems,
  paramRefProblems,
} from "./policy-fields.ts";
import { itemsOf, membersOf, specOf, textOf } from "./problems.ts";
import { conditionProblems, supported } from "./webhook-fields.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Validates a policy without its status (ValidateValidatingAdmissionPolicy). */
export function validatingPolicyProblems(
  policy: KubeObject,
  before: KubeObject | undefined,
  subresource: string,
): StatusCause[] {
  if (subresource === "status") return statusProblems(membersOf(policy["status"]));
  const spec = specOf(policy);
  const [validations, annotations] = [itemsOf(spec["validations"]), itemsOf(spec["auditAnnotations"])];
  const compilers = new Compilers(spec);
  const none = "validations or auditAnnotations must contain at least one item";
  const isEmpty = validations.length + annotations.length === 0;
  return [
    ...commonProblems(spec, compilers, { before }),
    ...(isEmpty ? [fieldRequired("spec.validations", none), fieldRequired("spec.auditAnnotations", none)] : []),
    ...validations.flatMap((one, at) => validationProblems(one, `spec.validations[${at}]`, compilers)),
    ...annotationsProblems(annotations, policy.metadata.name ?? "", compilers),
  ];
}

/** Validates a policy (ValidateMutatingAdmissionPolicy). */
export function mutatingPolicyProblems(policy: KubeObject, before: KubeObject | undefined): StatusCause[] {
  const spec = specOf(policy);
  const mutations = itemsOf(spec["mutations"]);
  const compilers = new Compilers(spec);
  const reinvocation = textOf(spec["reinvocationPolicy"]);
  return [
    ...commonProblems(spec, compilers, {
      before,
      more: mutableProblems(spec["matchConstraints"], "spec.matchConstraints"),
    }),
    ...(mutations.length === 0 ? [fieldRequired("spec.mutations", "mutations must contain at least one item")] : []),
    ...mutations.flatMap((one, at) => mutationProblems(one, `spec.mutations[${at}]`, compilers)),
    ...(reinvocation === "" ? [fieldRequired("spec.reinvocationPolicy")] : []),
    ...(reinvocation === "" ? [] : supported(reinvocation, "spec.reinvocationPolicy", ["IfNeeded", "Never"])),
  ];
}

/** Validates a binding of a policy that validates (ValidateValidatingAdmissionPolicyBinding). */
export function validatingBindingProblems(binding: KubeObject): StatusCause[] {
  const spec = specOf(binding);
  return [...bindingProblems(spec), ...actionProblems(spec["validationActions"], "spec.validationActions")];
}

/** Validates a binding of a policy that mutates (ValidateMutatingAdmissionPolicyBinding). */
export function mutatingBindingProblems(binding: KubeObject): StatusCause[] {
  const spec = specOf(binding);
  return [...bindingProblems(spec), ...mutableProblems(spec["matchResources"], "spec.matchResources")];
}

function bindingProblems(spec: Fields): StatusCause[] {
  const name = textOf(spec["policyName"]);
  return [
    ...(name === "" ? [fieldRequired("spec.policyName")] : []),
    ...(name === "" ? [] : nameProblems(name)).map((problem) => fieldInvalid("spec.policyName", name, problem)),
    ...paramRefProblems(spec["paramRef"], "spec.paramRef"),
    ...matchProblems(spec["matchResources"], "spec.matchResources"),
  ];
}

/** Compilers of the expressions of one policy. */
class Compilers {
  /** For match conditions: without composed variables. */
  readonly plain: LazyExpressions;
  readonly #variables: readonly Fields[];
  readonly #params: boolean;
  readonly #made = new Map<string, ComposedExpressions>();

  constructor(spec: Fields) {
    this.#params = spec["paramKind"] !== undefined && spec["paramKind"] !== null;
    this.#variables = itemsOf(spec["variables"]);
    this.plain = policyExpressions(this.#used({}));
  }

  /** Returns a compiler with the composed variables. As in Kubernetes, a policy that validates and has none has no `variables`. */
  with(options: Partial<PolicyVariables>): Pick<ComposedExpressions, "compile"> {
    const used = this.#used(options);
    if (this.#variables.length === 0 && !used.patches) return policyExpressions(used);
    const key = JSON.stringify(used);
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const made = policyExpressions(used).compose();
    this.#made.set(key, made);
    for (const { name, expression } of this.#variables) made.declare(textOf(name), textOf(expression));
    return made;
  }

  /** Returns the compilation errors of the composed variables, each compiled with those before it. */
  variableProblems(): readonly (string | undefined)[] {
    const made = policyExpressions(this.#used({})).compose();
    return this.#variables.map(({ name, expression }) => made.declare(textOf(name), textOf(expression)));
  }

  #used(options: Partial<PolicyVariables>): PolicyVariables {
    return { params: this.#params, authorizer: true, patches: false, ...options };
  }
}

function commonProblems(
  spec: Fields,
  compilers: Compilers,
  { before, more = [] }: { readonly before: KubeObject | undefined; readonly more?: readonly StatusCause[] },
): StatusCause[] {
  const { paramKind, matchConstraints, variables, matchConditions } = spec;
  const field = "spec.matchConstraints";
  const hasRules = itemsOf(membersOf(matchConstraints)["resourceRules"]).length > 0;
  const isKept = before !== undefined && keepsConditions(spec, specOf(before));
  return [
    ...supported(spec["failurePolicy"], "spec.failurePolicy", ["Fail", "Ignore"]),
    ...(paramKind === undefined || paramKind === null ? [] : paramKindProblems(membersOf(paramKind), "spec.paramKind")),
    ...(matchConstraints === undefined || matchConstraints === null ? [fieldRequired(field)] : []),
    ...(matchConstraints === undefined || matchConstraints === null || hasRules
      ? matchProblems(matchConstraints, field)
      : [...matchProblems(matchConstraints, field), fieldRequired(`${field}.resourceRules`)]),
    ...more,
    ...(isKept ? [] : conditionProblems(itemsOf(matchConditions), "spec.matchConditions", compilers.plain)),
    ...variablesProblems(itemsOf(variables), compilers),
  ];
}

/** Match conditions are not checked again while they and the params stay the same. */
function keepsConditions(spec: Fields, before: Fields): boolean {
  const [had, has] = [before, spec].map(({ paramKind }) => paramKind !== undefined && paramKind !== null);
  return had === has && equalJson(spec["matchConditions"] ?? [], before["matchConditions"] ?? []);
}

function variablesProblems(variables: readonly Fields[], compilers: Compilers): StatusCause[] {
  if (variables.length === 0) return [];
  const compiled = compilers.variableProblems();
  return variables.flatMap((variable, at) => {
    const field = `spec.variables[${at}]`;
    const [name, expression] = [textOf(variable["name"]), textOf(variable["expression"])];
    const problem = compiled[at];
    return [
      ...(name.trim() === "" ? [fieldRequired(`${field}.name`, "name is not specified")] : []),
      ...(name.trim() === "" || isIdentifier(name)
        ? []
        : [fieldInvalid(`${field}.name`, name, "must be a valid CEL identifier")]),
      ...(expression.trim() === "" ? [fieldRequired(`${field}.expression`, "expression is not specified")] : []),
      ...(expression.trim() === "" || problem === undefined
        ? []
        : [fieldInvalid(`${field}.expression`, expression, problem)]),
    ];
  });
}

const REASONS: readonly string[] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

function validationProblems(validation: Fields, field: string, compilers: Compilers): StatusCause[] {
  const { reason } = validation;
  const [expression, message] = [textOf(validation["expression"]), textOf(validation["message"])];
  const messageExpression = textOf(validation["messageExpression"]);
  const breaks = /[\n\r]/;
  return [
    ...(expression.trim() === "" ? [fieldRequired(`${field}.expression`, "expression is not specified")] : []),
    ...expressionProblems(expression, `${field}.expression`, { compiler: compilers.with({}), wanted: "bool" }),
    ...(messageExpression !== "" && messageExpression.trim() === ""
      ? [fieldInvalid(`${field}.messageExpression`, messageExpression, "must be non-empty if specified")]
      : []),
    ...expressionProblems(messageExpression, `${field}.messageExpression`, {
      compiler: compilers.with({ authorizer: false }),
      wanted: "string",
    }),
    ...(message !== "" && message.trim() === ""
      ? [fieldInvalid(`${field}.message`, message, "must be non-empty if specified")]
      : []),
    ...(breaks.test(message.trim()) ? [fieldInvalid(`${field}.message`, message, "must not contain line breaks")] : []),
    ...(reason === undefined || reason === null || REASONS.includes(textOf(reason))
      ? []
      : [fieldNotSupported(`${field}.reason`, reason, REASONS)]),
  ];
}

interface Wanted {
  readonly compiler: Pick<ComposedExpressions, "compile">;
  readonly wanted: WantedType | readonly WantedType[];
  /** Text that errors name. @default the expression */
  readonly shown?: string;
}

function expressionProblems(
  source: string,
  field: string,
  { compiler, wanted, shown = source }: Wanted,
): StatusCause[] {
  if (source.trim() === "") return [];
  const compiled = compiler.compile(source, wanted);
  return "problem" in compiled ? [fieldInvalid(field, shown, compiled.problem)] : [];
}

const MOST_ANNOTATIONS = 20;
/** Limit of an expression of an audit annotation, in bytes. */
const LONGEST = 5 * 1024;

function annotationsProblems(annotations: readonly Fields[], policy: string, compilers: Compilers): StatusCause[] {
  const field = "spec.auditAnnotations";
  const many = `must not have more than ${MOST_ANNOTATIONS} auditAnnotations`;
  const keys = annotations.map(({ key }) => textOf(key));
  return [
    ...(annotations.length > MOST_ANNOTATIONS ? [fieldInvalid(field, annotations, many)] : []),
    ...annotations.flatMap((annotation, at) => {
      const place = `${field}[${at}]`;
      const key = keys[at] ?? "";
      const isTwice = keys.indexOf(key) < at;
      return [
        ...(policy === "" ? [fieldInvalid(`${place}.key`, key, "requires metadata.name be non-empty")] : []),
        ...(policy === "" ? [] : labelKeyProblems(`${policy}/${key}`)).map((problem) =>
          fieldInvalid(`${place}.key`, `${policy}/${key}`, problem),
        ),
        ...valueProblems(textOf(annotation["valueExpression"]), `${place}.valueExpression`, compilers),
        ...(isTwice ? [fieldDuplicate(`${place}.key`, key)] : []),
      ];
    }),
  ];
}

function valueProblems(value: string, field: string, compilers: Compilers): StatusCause[] {
  const source = value.trim();
  if (source === "") return [fieldRequired(field, "valueExpression is not specified")];
  if (Buffer.byteLength(source) > LONGEST) return [fieldRequired(field, `must not exceed ${LONGEST} bytes in length`)];
  return expressionProblems(source, field, {
    compiler: compilers.with({}),
    wanted: ["string", "null_type"],
    shown: value,
  });
}

const PATCHES = {
  ApplyConfiguration: { field: "applyConfiguration", wanted: "Object" },
  JSONPatch: { field: "jsonPatch", wanted: "list(JSONPatch)" },
} as const;

function mutationProblems(mutation: Fields, field: string, compilers: Compilers): StatusCause[] {
  const type = textOf(mutation["patchType"]);
  if (type === "") return [fieldRequired(`${field}.patchType`)];
  if (type !== "ApplyConfiguration" && type !== "JSONPatch")
    return [fieldNotSupported(`${field}.patchType`, type, Object.keys(PATCHES))];
  const { field: own, wanted } = PATCHES[type];
  const other = PATCHES[type === "JSONPatch" ? "ApplyConfiguration" : "JSONPatch"].field;
  const isSet = (name: string): boolean => mutation[name] !== undefined && mutation[name] !== null;
  const source = textOf(membersOf(mutation[own])["expression"]).trim();
  const place = `${field}.${own}`;
  const wrong = `must not be specified when patchType is ${type}`;
  return [
    ...(isSet(own) ? [] : [fieldRequired(place, `must be specified when patchType is ${type}`)]),
    ...(isSet(own) && source === "" ? [fieldRequired(`${place}.expression`)] : []),
    ...expressionProblems(source, `${place}.expression`, { compiler: compilers.with({ patches: true }), wanted }),
    ...(isSet(other) ? [fieldInvalid(`${field}.${other}`, `{${other}}`, wrong)] : []),
  ];
}

function statusProblems(status: Fields): StatusCause[] {
  return itemsOf(membersOf(status["typeChecking"])["expressionWarnings"]).flatMap(({ warning, fieldRef }, at) => {
    const field = `status.typeChecking.expressionWarnings[${at}]`;
    return [
      ...(textOf(warning) === "" ? [fieldRequired(`${field}.warning`)] : []),
      ...(textOf(fieldRef).trim() === "" ? [fieldRequired(`${field}.fieldRef`)] : []),
    ];
  });
}
