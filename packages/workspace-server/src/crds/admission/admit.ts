import { ApiError, type JsonSchema, type KubeObject, quote } from "@virtual-workspaces/apimachinery";
import { isRecognizedFormat } from "@virtual-workspaces/apimachinery/schema";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import {
  type CrdContent,
  type CrdSpec,
  type CrdStatus,
  type CustomResourceDefinition,
  initialStatus,
  withDefaults,
  withStorageVersion,
} from "../definition/definition.ts";
import { createProblems, statusProblems, updateProblems } from "./crd-problems.ts";
import { decodeCrd } from "./spec.ts";

const KIND = { group: "apiextensions.k8s.io", kind: "CustomResourceDefinition" };

/** Group whose kinds workspaces may not define (kcp's `reservedcrdgroups`), and domain of annotations that they may not set. */
const RESERVED_GROUP = "apis.kcp.io";

/**
 * Admits CustomResourceDefinitions: sets defaults, drops unknown fields with a warning, and
 * rejects what Kubernetes rejects. It also rejects conversion webhooks, which this server never calls.
 *
 * @throws ApiError 400 on a field of the wrong type, 403 for a group or an annotation of kcp's APIs, 422 with a cause for each problem
 */
function admitCrd(request: AdmitRequest<CustomResourceDefinition>): CustomResourceDefinition | undefined {
  const { object, oldObject, subresource, warn } = request;
  if (object === undefined) return undefined;
  const { spec: given, status, warnings } = decodeCrd(object as unknown as KubeObject);
  for (const text of warnings) warn(text);
  if (given.group?.endsWith(RESERVED_GROUP) === true) throw forbidden(object, `${given.group} is a reserved group`);
  const annotations = reservedAnnotations(object).map((key) => `${key} is a reserved annotation`);
  if (annotations.length > 0) throw forbidden(object, joined(annotations));
  if (subresource === "status") return withStatus(object, status ?? {});
  const spec = withDefaults(given);
  const next = { ...object, spec };
  const causes =
    oldObject === undefined
      ? createProblems({ ...next, status: initialStatus(spec) })
      : updateProblems({ ...next, status: withStorageVersion(oldObject.status ?? {}, spec) }, oldObject);
  if (causes.length > 0) throw refusal(object, causes);
  for (const text of schemaWarnings(spec, oldObject?.spec)) warn(text);
  return next;
}

/** Returns {@link admitCrd} with further hooks after it. A definition whose spec a webhook changes is validated again. */
export function admitCrdWith(others: Admit | undefined): Admit {
  const own = admitCrd as unknown as Admit;
  return async (request) => {
    const valid = (await own(request)) ?? request.object;
    const next = await others?.({ ...request, object: valid });
    if (next === undefined) return valid;
    return specOf(next) === specOf(valid) ? next : own({ ...request, object: next });
  };
}

function specOf(object: KubeObject | undefined): unknown {
  return (object as Partial<CustomResourceDefinition> | undefined)?.spec;
}

function withStatus(object: CustomResourceDefinition, status: CrdStatus): CustomResourceDefinition {
  const causes = statusProblems(status);
  if (causes.length > 0) throw refusal(object, causes);
  return { ...object, status } satisfies CrdContent & object;
}

/** Returns the annotations that only the server sets, such as `apis.kcp.io/bound-crd` (kcp's `reservedcrdannotations`). */
function reservedAnnotations({ metadata }: CustomResourceDefinition): string[] {
  const domain = (key: string): string => key.split("/", 1)[0] as string;
  return Object.keys(metadata.annotations ?? {})
    .filter((key) => domain(key) === RESERVED_GROUP || domain(key).endsWith(`.${RESERVED_GROUP}`))
    .sort();
}

/** Combines messages as Go's aggregated errors do. */
function joined(messages: readonly string[]): string {
  return messages.length === 1 ? (messages[0] as string) : `[${messages.join(", ")}]`;
}

function forbidden({ metadata }: CustomResourceDefinition, message: string): ApiError {
  const resource = { group: KIND.group, resource: "customresourcedefinitions" };
  return ApiError.forbidden({ resource, name: metadata.name ?? "", message });
}

function refusal({ metadata }: CustomResourceDefinition, causes: ReturnType<typeof statusProblems>): ApiError {
  return ApiError.invalid({ kind: KIND, name: metadata.name ?? metadata.generateName ?? "", causes });
}

/** Returns Kubernetes' warnings about valid schemas; unchanged parts cause none. */
function schemaWarnings(spec: CrdSpec, before: CrdSpec | undefined): string[] {
  const known = new Set(before === undefined ? [] : findings(before));
  return findings(spec).filter((text) => !known.has(text));
}

function findings({ versions }: CrdSpec): string[] {
  const formats: string[] = [];
  const sets = new Set<string>();
  for (const { schema } of versions)
    for (const one of everySchema(schema?.openAPIV3Schema)) {
      const { format = "", type = "", items } = one;
      if (format !== "" && !isRecognizedFormat(format, type)) formats.push(`unrecognized format ${quote(format)}`);
      if (one["x-kubernetes-list-type"] === "set" && (items?.type === "object" || items?.type === "array"))
        sets.add(
          `x-kubernetes-list-type: set for items of type ${quote(items.type)} is not supported by server-side apply or CEL validation rules`,
        );
    }
  return [...formats, ...[...sets].sort()];
}

function* everySchema(schema: JsonSchema | undefined): Generator<JsonSchema, void> {
  if (schema === undefined) return;
  yield schema;
  const { items, allOf = [], anyOf = [], oneOf = [], not, properties = {}, additionalProperties: rest } = schema;
  const below = [items, ...allOf, ...anyOf, ...oneOf, not, ...Object.values(properties)];
  for (const child of below) yield* everySchema(child);
  if (typeof rest === "object") yield* everySchema(rest);
}
