import type { ComposedExpressions, Expression, WantedType } from "@virtual-workspaces/framework/resource";
import { composed } from "../kinds/policy-expressions.ts";
import type { MutatingPolicyContent, PolicySpec, ValidatingPolicyContent } from "../kinds/policy-kinds.ts";

/** Compiled expression, or its error, which is that of each evaluation. */
export type Compiled = Expression | Error;

/** Expressions of a policy. */
export interface CompiledPolicy {
  readonly composer: ComposedExpressions;
  readonly matchConditions: readonly Compiled[];
  readonly validations: readonly CompiledValidation[];
  readonly auditAnnotations: readonly CompiledAnnotation[];
  readonly mutations: readonly CompiledMutation[];
}

/** Expression that is true for valid objects. */
export interface CompiledValidation {
  readonly expression: Compiled;
  readonly messageExpression: Compiled | undefined;
  /** Message without a message expression, or where that fails. */
  readonly message: string;
  readonly reason: string | undefined;
}

/** Expression for an annotation of audit events. */
export interface CompiledAnnotation {
  readonly key: string;
  readonly value: Compiled;
  /** As written. */
  readonly source: string;
}

/** Expression for a change of objects. */
export interface CompiledMutation {
  readonly type: "ApplyConfiguration" | "JSONPatch";
  readonly expression: Compiled;
}

/** Maximum of policies whose expressions are kept compiled. */
const MOST = 500;
/** Compiled policies by content, least recently used first: equal policies of many workspaces are compiled once. */
const known = new Map<string, CompiledPolicy>();

/** Returns the compiled expressions of a policy that validates. */
export function compiledValidations(spec: ValidatingPolicyContent["spec"]): CompiledPolicy {
  const { validations = [], auditAnnotations = [] } = spec;
  return once(["validating", ...commonOf(spec), validations, auditAnnotations], () => {
    const composer = composerOf(spec, false);
    return {
      composer,
      matchConditions: conditionsOf(spec, composer),
      validations: validations.map(({ expression, message = "", messageExpression = "", reason }) => ({
        expression: compiled(composer, expression, "bool"),
        messageExpression:
          messageExpression.trim() === "" ? undefined : compiled(composer, messageExpression, "string"),
        message: message.trim() === "" ? `failed expression: ${expression.trim()}` : message.trim(),
        reason,
      })),
      auditAnnotations: auditAnnotations.map(({ key, valueExpression }) => ({
        key,
        value: compiled(composer, valueExpression.trim(), ["string", "null_type"]),
        source: valueExpression,
      })),
      mutations: [],
    };
  });
}

/** Returns the compiled expressions of a policy that mutates. */
export function compiledMutations(spec: MutatingPolicyContent["spec"]): CompiledPolicy {
  return once(["mutating", ...commonOf(spec), spec.mutations], () => {
    const composer = composerOf(spec, true);
    return {
      composer,
      matchConditions: conditionsOf(spec, composer),
      validations: [],
      auditAnnotations: [],
      mutations: spec.mutations.map(({ patchType, applyConfiguration, jsonPatch }) =>
        patchType === "JSONPatch"
          ? { type: patchType, expression: compiled(composer, jsonPatch?.expression ?? "", "list(JSONPatch)") }
          : {
              type: "ApplyConfiguration",
              expression: compiled(composer, applyConfiguration?.expression ?? "", "Object"),
            },
      ),
    };
  });
}

function commonOf({ paramKind, variables = [], matchConditions = [] }: PolicySpec): readonly unknown[] {
  return [paramKind !== undefined, variables, matchConditions];
}

function composerOf({ variables = [], paramKind }: PolicySpec, patches: boolean): ComposedExpressions {
  return composed(variables, { params: paramKind !== undefined, authorizer: true, patches });
}

function conditionsOf({ matchConditions = [] }: PolicySpec, composer: ComposedExpressions): readonly Compiled[] {
  return matchConditions.map(({ expression }) => compiled(composer, expression.trim(), "bool"));
}

function compiled(composer: ComposedExpressions, source: string, wanted: WantedType | readonly WantedType[]): Compiled {
  const result = composer.compile(source, wanted);
  return "problem" in result ? new Error(`compilation error: ${result.problem}`) : result.expression;
}

function once(content: readonly unknown[], compile: () => CompiledPolicy): CompiledPolicy {
  const key = JSON.stringify(content);
  const found = known.get(key) ?? compile();
  known.delete(key);
  known.set(key, found);
  const [oldest] = known.keys();
  if (known.size > MOST && oldest !== undefined) known.delete(oldest);
  return found;
}
