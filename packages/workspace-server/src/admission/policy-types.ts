import type { JsonSchema, KubeObject, ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { LazyExpressions, VariableType } from "@virtual-workspaces/framework/resource";
import { startController } from "../controllers/shard-controllers.ts";
import { typedExpressions } from "../kinds/policy-expressions.ts";
import { ValidatingAdmissionPolicy, type ValidatingPolicyContent } from "../kinds/policy-kinds.ts";
import type { ShardContext, ShardController } from "../state/context.ts";
import { modify } from "../state/modify.ts";

type Policy = ObjectOf<ValidatingPolicyContent>;
type Warning = { fieldRef: string; warning: string };

/** Kinds of one policy that are checked at most. */
const MOST_KINDS = 10;

/** Checks the expressions of ValidatingAdmissionPolicies against the types of the objects that they match, into their status. */
export function policyTypes(context: ShardContext): ShardController {
  const informer = context.state.validatingPolicies;
  return startController<Policy & KubeObject>(context, {
    name: "validatingadmissionpolicy-status",
    sources: [{ informer: informer as never }],
    reconcile: async (key, { object }) => {
      if (object === undefined || object.status?.observedGeneration === object.metadata.generation) return;
      const expressionWarnings = warningsOf(object, key, context);
      const observedGeneration = object.metadata.generation ?? 1;
      const typeChecking = expressionWarnings.length === 0 ? {} : { expressionWarnings };
      await modify(context.objects.of(ValidatingAdmissionPolicy), key, (current) =>
        current.metadata.generation === object.metadata.generation
          ? { ...current, status: { ...current.status, observedGeneration, typeChecking } }
          : undefined,
      );
    },
  });
}

interface CheckedKind {
  readonly name: string;
  readonly type: VariableType;
}

function warningsOf({ spec }: Policy, { cluster }: ObjectKey, { kinds }: ShardContext): Warning[] {
  const known = kinds.in(cluster);
  const params = spec.paramKind && known.of(spec.paramKind.apiVersion, spec.paramKind.kind)?.definition.schema;
  const paramType = spec.paramKind && (params === undefined ? "any" : typeOf(params));
  const checked: CheckedKind[] = [];
  for (const { apiGroups, apiVersions, resources } of spec.matchConstraints.resourceRules ?? []) {
    if ([...apiGroups, ...apiVersions].some((one) => one.includes("*"))) continue;
    for (const { definition } of known.all) {
      const { group, version, plural, kind, schema } = definition;
      if (!apiGroups.includes(group) || !apiVersions.includes(version) || !resources.includes(plural)) continue;
      const name = `${group === "" ? "" : `${group}/`}${version}, Kind=${kind}`;
      if (!checked.some((one) => one.name === name)) checked.push({ name, type: typeOf(schema) });
    }
  }
  checked.sort((a, b) => (a.name < b.name ? -1 : 1));
  const compilers = checked
    .slice(0, MOST_KINDS)
    .map(({ name, type }) => ({ name, compile: compilerOf(typedExpressions(type, paramType), spec) }));
  const check = (fieldRef: string, source: string): Warning[] => {
    const found = compilers.flatMap(({ name, compile }) => {
      const problem = compile(source);
      return problem === undefined ? [] : [`${name}: ${problem}\n`];
    });
    return found.length === 0 ? [] : [{ fieldRef, warning: found.join("\n") }];
  };
  return (spec.validations ?? []).flatMap(({ expression, messageExpression = "" }, at) => [
    ...check(`spec.validations[${at}].expression`, expression),
    ...(messageExpression === "" ? [] : check(`spec.validations[${at}].messageExpression`, messageExpression)),
  ]);
}

function compilerOf(
  expressions: LazyExpressions,
  { variables = [] }: Policy["spec"],
): (source: string) => string | undefined {
  const composed = expressions.compose();
  for (const { name, expression } of variables) composed.declare(name, expression);
  return (source) => {
    const compiled = composed.compile(source);
    return "problem" in compiled ? compiled.problem : undefined;
  };
}

const TEXT: JsonSchema = { type: "string" };
const TEXT_MAP: JsonSchema = { type: "object", additionalProperties: TEXT };
const NUMBER: JsonSchema = { type: "integer" };
const TIME: JsonSchema = { type: "string", format: "date-time" };
/** Schema of a value of any type. */
const ANYTHING: JsonSchema = { "x-kubernetes-int-or-string": true };

const METADATA: JsonSchema = {
  type: "object",
  properties: {
    ...{ name: TEXT, generateName: TEXT, namespace: TEXT, uid: TEXT, resourceVersion: TEXT, selfLink: TEXT },
    ...{ generation: NUMBER, deletionGracePeriodSeconds: NUMBER, creationTimestamp: TIME, deletionTimestamp: TIME },
    ...{ labels: TEXT_MAP, annotations: TEXT_MAP, finalizers: { type: "array", items: TEXT } },
    ...{ ownerReferences: ANYTHING, managedFields: ANYTHING },
  },
};

function typeOf(schema: JsonSchema): VariableType {
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) return "any";
  const { properties = {} } = typed(schema);
  return { ...properties, apiVersion: TEXT, kind: TEXT, metadata: METADATA };
}

/** Returns a schema in which values without a type may be anything, as in Kubernetes. */
function typed(schema: JsonSchema): JsonSchema {
  const { type, properties, additionalProperties, items } = schema;
  if (type === undefined || schema["x-kubernetes-preserve-unknown-fields"] === true) return ANYTHING;
  const fields = Object.entries(properties ?? {}).map(([name, property]) => [name, typed(property)] as const);
  return {
    ...schema,
    ...(properties !== undefined && { properties: Object.fromEntries(fields) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: typed(additionalProperties) }),
    ...(items !== undefined && { items: typed(items) }),
  };
}
