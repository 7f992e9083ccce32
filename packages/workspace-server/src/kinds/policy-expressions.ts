import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { type ComposedExpressions, LazyExpressions, type VariableType } from "@virtual-workspaces/framework/resource";
import { ADMISSION_REQUEST } from "./match-conditions.ts";

const TEXT = { type: "string" } as const;
const TEXTS = { type: "array", items: TEXT } as const;
const TEXT_MAP = { type: "object", additionalProperties: TEXT } as const;
const TIME = { type: "string", format: "date-time" } as const;

/** Fields of the variable `namespaceObject`. */
const NAMESPACE: Readonly<Record<string, JsonSchema>> = {
  metadata: {
    type: "object",
    properties: {
      name: TEXT,
      generateName: TEXT,
      namespace: TEXT,
      labels: TEXT_MAP,
      annotations: TEXT_MAP,
      UID: TEXT,
      creationTimestamp: TIME,
      deletionGracePeriodSeconds: { type: "integer" },
      deletionTimestamp: TIME,
      generation: { type: "integer" },
      resourceVersion: TEXT,
      finalizers: TEXTS,
    },
  },
  spec: { type: "object", properties: { finalizers: TEXTS } },
  status: { type: "object", properties: { phase: TEXT } },
};

/** Variables and functions that expressions of a policy may use. */
export interface PolicyVariables {
  readonly params: boolean;
  /** Whether there is `authorizer`. */
  readonly authorizer: boolean;
  /** Whether expressions may evaluate to patches. */
  readonly patches: boolean;
}

const compilers = new Map<string, LazyExpressions>();

/** Returns the compiler of expressions of policies, one for each set of variables. */
export function policyExpressions({ params, authorizer, patches }: PolicyVariables): LazyExpressions {
  const key = `${params} ${authorizer} ${patches}`;
  let compiler = compilers.get(key);
  if (compiler === undefined) {
    compiler = typedExpressions("any", params ? "any" : undefined, { authorizer, patches });
    compilers.set(key, compiler);
  }
  return compiler;
}

/** Returns a compiler for the type check of a policy, with the types of objects and params. */
export function typedExpressions(
  object: VariableType,
  params: VariableType | undefined,
  options: Omit<PolicyVariables, "params"> = { authorizer: true, patches: false },
): LazyExpressions {
  const variables: Record<string, VariableType> = {
    ...{ object, oldObject: object, request: ADMISSION_REQUEST, namespaceObject: NAMESPACE },
    ...(params !== undefined && { params }),
  };
  return new LazyExpressions(variables, { wholeNumbers: "int", revealing: true, ...options });
}

/** Composed variable of a policy. */
export interface PolicyVariable {
  readonly name: string;
  readonly expression: string;
}

/** Returns a compiler with the composed variables of a policy. Errors of variables are those of the expressions that use them. */
export function composed(variables: readonly PolicyVariable[], used: PolicyVariables): ComposedExpressions {
  const expressions = policyExpressions(used).compose();
  for (const { name, expression } of variables) expressions.declare(name, expression);
  return expressions;
}
