import type { JsonSchema, KubeObject } from "@virtual-workspaces/apimachinery";
import type { LabelSelectorObject } from "@virtual-workspaces/apimachinery/selectors";
import { type ColumnSpec, Resource } from "@virtual-workspaces/framework";
import { AGE, type BuiltInKind, type Columns, STANDARD_VERBS } from "./built-in-kind.ts";
import { conditions, int64, keyed, object, objects, text, textSet, texts } from "./descriptions.ts";
import type { PolicyVariable } from "./policy-expressions.ts";
import {
  mutatingBindingProblems,
  mutatingPolicyProblems,
  validatingBindingProblems,
  validatingPolicyProblems,
} from "./policy-problems.ts";
import { itemsOf, membersOf, specOf, textOf } from "./problems.ts";
import {
  ADMISSIONREGISTRATION_GROUP,
  ruleFields,
  selector,
  selectorOf,
  type WebhookRule,
} from "./webhook-configuration.ts";

/** Rule of a policy, with defaults. */
export interface PolicyRule extends WebhookRule {
  resourceNames?: string[];
}

/** Requests that a policy or a binding applies to, with defaults. */
export interface MatchResources {
  matchPolicy?: string;
  namespaceSelector?: LabelSelectorObject;
  objectSelector?: LabelSelectorObject;
  resourceRules?: PolicyRule[];
  excludeResourceRules?: PolicyRule[];
}

/** Kind of the params of a policy. */
export interface ParamKind {
  apiVersion: string;
  kind: string;
}

/** Fields that both kinds of policies have. */
export interface PolicySpec {
  paramKind?: ParamKind;
  matchConstraints: MatchResources;
  matchConditions?: { name: string; expression: string }[];
  variables?: PolicyVariable[];
  failurePolicy?: string;
}

/** Fields of a ValidatingAdmissionPolicy. */
export interface ValidatingPolicyContent {
  spec: PolicySpec & {
    validations?: { expression: string; message?: string; messageExpression?: string; reason?: string }[];
    auditAnnotations?: { key: string; valueExpression: string }[];
  };
  status?: {
    observedGeneration?: number;
    typeChecking?: { expressionWarnings?: { fieldRef: string; warning: string }[] };
  };
}

/** Fields of a MutatingAdmissionPolicy. */
export interface MutatingPolicyContent {
  spec: PolicySpec & {
    mutations: {
      patchType: string;
      applyConfiguration?: { expression: string };
      jsonPatch?: { expression: string };
    }[];
    reinvocationPolicy: string;
  };
}

/** Reference to the params of a binding. */
export interface ParamRef {
  name?: string;
  namespace?: string;
  selector?: LabelSelectorObject;
  parameterNotFoundAction?: string;
}

/** Fields of a binding of either kind. */
export interface PolicyBindingContent {
  spec: {
    policyName: string;
    paramRef?: ParamRef;
    matchResources?: MatchResources;
    /** Only of a ValidatingAdmissionPolicyBinding. */
    validationActions?: string[];
  };
}

const atomic = (schema: JsonSchema): JsonSchema => ({ ...schema, "x-kubernetes-map-type": "atomic" });

const rules = (description: string): JsonSchema =>
  objects(description, { resourceNames: texts("Names of the objects. Defaults to all."), ...ruleFields });

const match = (description: string): JsonSchema =>
  atomic(
    object(description, {
      matchPolicy: { ...text("Exact or Equivalent, for other versions of a resource."), default: "Equivalent" },
      namespaceSelector: selector("Labels of the object's namespace."),
      objectSelector: selector("Labels of the object, before or after the request."),
      resourceRules: rules("Requests that match: those of one of the rules."),
      excludeResourceRules: rules("Requests that do not match: those of one of these rules."),
    }),
  );

const expression = (description: string): Readonly<Record<string, JsonSchema>> => ({ expression: text(description) });

const common: Readonly<Record<string, JsonSchema>> = {
  paramKind: atomic(
    object("Kind of the params. Without it, expressions have none.", {
      apiVersion: text("API version of the kind."),
      kind: text("Kind of the params."),
    }),
  ),
  matchConstraints: match("Requests that the policy applies to."),
  matchConditions: keyed(
    "name",
    objects("CEL expressions, all of which must be true.", {
      name: text("Name of the condition."),
      ...expression("Expression, such as object.spec.replicas > 3."),
    }),
  ),
  variables: keyed(
    "name",
    objects("Expressions that the others use as variables.<name>; each may use those before it.", {
      name: text("Name of the variable."),
      ...expression("Expression of any type."),
    }),
  ),
  failurePolicy: { ...text("Fail or Ignore, when an expression or the configuration fails."), default: "Fail" },
};

const params = atomic(
  object("Params of the policy, in this workspace: by name or by labels.", {
    name: text("Name of the object."),
    namespace: text("Namespace of the object. Defaults to the name of the namespace of the request."),
    selector: selectorOf("Labels of the objects; the policy is evaluated for each."),
    parameterNotFoundAction: text("Allow or Deny, when no object is found."),
  }),
);

const binding = (more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema => ({
  type: "object",
  properties: {
    spec: object("Use of the policy.", {
      policyName: text("Name of the policy, in the same workspace."),
      paramRef: params,
      matchResources: match("Requests that the binding applies to, of those of the policy. Defaults to all of them."),
      ...more,
    }),
  },
});

const count = (name: string, description: string): ColumnSpec => ({
  type: "integer",
  description,
  value: (policy: KubeObject) => itemsOf(specOf(policy)[name]).length,
});

const ParamKindColumn: ColumnSpec = {
  type: "string",
  description: "ParamKind specifies the kind of resources used to parameterize this policy",
  value: (policy: KubeObject) => {
    const { apiVersion, kind } = membersOf(specOf(policy)["paramKind"]);
    return kind === undefined ? "<unset>" : `${textOf(apiVersion)}/${textOf(kind)}`;
  },
};

const bindingColumns: Columns = {
  PolicyName: {
    type: "string",
    description: "PolicyName is the name of the policy that the binding puts into effect",
    value: (one: KubeObject) => textOf(specOf(one)["policyName"]),
  },
  ParamRef: {
    type: "string",
    description: "ParamRef indicates the param resource which sets the configuration param",
    value: (one: KubeObject) => {
      const { name, namespace, selector: labels } = membersOf(specOf(one)["paramRef"]);
      if (textOf(name) !== "") return `${textOf(namespace) || "*"}/${textOf(name)}`;
      return labels === undefined ? "<unset>" : JSON.stringify(labels);
    },
  },
  Age: AGE,
};

const served = {
  group: ADMISSIONREGISTRATION_GROUP,
  version: "v1",
  scope: "Cluster",
  categories: ["api-extensions"],
  lazySchema: true,
} as const;

/** `admissionregistration.k8s.io/v1` ValidatingAdmissionPolicy. */
export const ValidatingAdmissionPolicy: Resource<ValidatingPolicyContent> = new Resource<ValidatingPolicyContent>({
  ...served,
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
  description: "ValidatingAdmissionPolicy describes expressions that accept and reject objects.",
  columns: {
    Validations: count(
      "validations",
      "Validations indicates the number of validation rules defined in this configuration",
    ),
    ParamKind: ParamKindColumn,
    Age: AGE,
  },
  schema: {
    type: "object",
    properties: {
      spec: object("Content of the policy.", {
        ...common,
        validations: objects("Expressions, all of which must be true.", {
          ...expression("Expression that is true for valid objects."),
          message: text("Message of a rejection. Defaults to the expression."),
          messageExpression: text("Expression for the message of a rejection; the message applies where it fails."),
          reason: text("Forbidden, Invalid or RequestEntityTooLarge. Defaults to Invalid."),
        }),
        auditAnnotations: objects("Annotations of audit events.", {
          key: text("Key of the annotation, without the name of the policy."),
          valueExpression: text("Expression for the value; null or an empty text for no annotation."),
        }),
      }),
      status: object("Result of the type check.", {
        observedGeneration: int64("Generation of the policy that was checked."),
        typeChecking: object("Warnings. Without any, the expressions fit the types of the objects.", {
          expressionWarnings: objects("Warnings by expression.", {
            fieldRef: text("Path of the expression."),
            warning: text("Errors of the expression, by kind of object."),
          }),
        }),
        conditions: conditions("Conditions of the policy."),
      }),
    },
  },
  subresources: { status: true },
  strategy: { problems: validatingPolicyProblems },
});

/** `admissionregistration.k8s.io/v1` ValidatingAdmissionPolicyBinding. */
export const ValidatingAdmissionPolicyBinding: Resource<PolicyBindingContent> = new Resource<PolicyBindingContent>({
  ...served,
  kind: "ValidatingAdmissionPolicyBinding",
  description: "ValidatingAdmissionPolicyBinding puts a ValidatingAdmissionPolicy into effect.",
  columns: bindingColumns,
  schema: binding({ validationActions: textSet("Deny, Warn and Audit, for objects that the policy rejects.") }),
  subresources: { status: false },
  strategy: { problems: validatingBindingProblems },
});

/** `admissionregistration.k8s.io/v1` MutatingAdmissionPolicy. */
export const MutatingAdmissionPolicy: Resource<MutatingPolicyContent> = new Resource<MutatingPolicyContent>({
  ...served,
  kind: "MutatingAdmissionPolicy",
  plural: "mutatingadmissionpolicies",
  description: "MutatingAdmissionPolicy describes expressions that change objects.",
  columns: {
    Mutations: count("mutations", "Mutation indicates the number of mutations rules defined in this configuration"),
    ParamKind: ParamKindColumn,
    Age: AGE,
  },
  schema: {
    type: "object",
    properties: {
      spec: object("Content of the policy.", {
        ...common,
        mutations: objects("Changes, one after the other.", {
          patchType: text("ApplyConfiguration or JSONPatch."),
          applyConfiguration: object("Change by server-side apply.", {
            ...expression("Expression for an object with the changed fields: Object{spec: Object.spec{…}}."),
          }),
          jsonPatch: object("Change by a JSON patch.", {
            ...expression('Expression for a list of operations: [JSONPatch{op: "add", path: "/spec/a", value: 1}].'),
          }),
        }),
        reinvocationPolicy: text("Never or IfNeeded: whether to evaluate again when others have changed the object."),
      }),
    },
  },
  subresources: { status: false },
  strategy: { problems: mutatingPolicyProblems },
});

/** `admissionregistration.k8s.io/v1` MutatingAdmissionPolicyBinding. */
export const MutatingAdmissionPolicyBinding: Resource<PolicyBindingContent> = new Resource<PolicyBindingContent>({
  ...served,
  kind: "MutatingAdmissionPolicyBinding",
  description: "MutatingAdmissionPolicyBinding puts a MutatingAdmissionPolicy into effect.",
  columns: bindingColumns,
  schema: binding(),
  subresources: { status: false },
  strategy: { problems: mutatingBindingProblems },
});

export const policyKinds: readonly BuiltInKind[] = [
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
].map((resource) => ({ resource: resource as unknown as Resource, verbs: STANDARD_VERBS }));
