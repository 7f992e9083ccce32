import {
  ApiError,
  fieldInvalid,
  isApiError,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type KubeObject,
  normalizeMetadata,
  type ObjectKey,
} from "@virtual-workspaces/apimachinery";
import { cloneJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  unknownJsonPatchFields,
} from "@virtual-workspaces/apimachinery/patch";
import { decodeBody, decodeJsonPatch } from "../body/decode.ts";
import type { YamlReader } from "../body/yaml/yaml-reader.ts";
import type { ResourceDefinition } from "../definition.ts";
import { checkPlace, checkTypeKept } from "../write/identity.ts";
import type { PatchType } from "../write/patch-types.ts";
import { once, reportFindings } from "../write/strict.ts";
import type { Change, WriteRequest } from "../write/write-request.ts";
import type { FieldOwners } from "../write/write-rules.ts";

/** A patch as received, and its target. */
export interface SentPatch {
  readonly type: PatchType;
  readonly body: Buffer;
  readonly yaml: YamlReader;
  readonly key: ObjectKey;
  readonly definition: ResourceDefinition;
  /**
   * Normalizes the patched object in place and returns its unknown fields.
   * @throws ApiError 400
   * @default expects an object of the definition and leaves its content to the writer
   */
  readonly read?: (object: KubeObject) => string[];
}

/** Parts of a write request that depend on how the object is made. */
export type Making = Pick<WriteRequest, "unknown"> & { readonly change: Change };

/** Prepares a patch that changes the current object: JSON, merge or strategic. */
export function patching(patch: SentPatch, { options }: WriteRequest): Making {
  const { type, definition, key, read = readWhole(definition) } = patch;
  const { value, duplicates } = decodeJsonPatch(patch.body);
  const others = type === "json" ? unknownJsonPatchFields(value) : [];
  let patched: JsonObject = {};
  let unknown: readonly string[] = [];
  const change: Change = (copy) => {
    patched = applied(copy() as KubeObject, value, patch);
    const object = patched as KubeObject;
    unknown = readable(patched, () => read(object));
    checkPlace(object, key);
    return { object, by: "changing" };
  };
  return {
    change,
    unknown: once((more) => {
      const findings = { others, duplicates, unknown: [...unknown, ...more] };
      reportFindings(findings, { ...options, refuse: (problem) => unreadable(patched, problem) });
    }),
  };
}

function readWhole(definition: ResourceDefinition): (object: JsonObject) => string[] {
  return (object) => {
    checkTypeKept(object, definition);
    return normalizeMetadata(object);
  };
}

/** Applies the patch. The result is changed in place, so it shares nothing with the patch, which may be applied again. */
function applied(object: KubeObject, patch: unknown, { type, definition }: SentPatch): JsonObject {
  if (type === "merge") return applyMergePatch(object, cloneJson(patch));
  if (type === "strategic") return applyStrategicMergePatch(object, cloneJson(patch), wholeSchema(definition.schema));
  const result = applyJsonPatch(object, patch);
  if (!isJsonObject(result)) throw unreadable(result, "it must be an object");
  return cloneJson(result);
}

/** Merge rules for the lists of metadata, whatever the kind (the patch strategies of metav1.ObjectMeta). */
const METADATA: JsonSchema = {
  type: "object",
  properties: {
    finalizers: { type: "array", items: { type: "string" }, "x-kubernetes-patch-strategy": "merge" },
    ownerReferences: {
      type: "array",
      items: { type: "object" },
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "uid",
    },
  },
};

function wholeSchema(schema: JsonSchema): JsonSchema {
  return { ...schema, properties: { ...schema.properties, metadata: METADATA } };
}

/** Reports an invalid patched object as an error of the patch. */
function readable<R>(object: unknown, read: () => R): R {
  try {
    return read();
  } catch (error) {
    throw isApiError(error) && error.code === 400 ? unreadable(object, error.message) : error;
  }
}

function unreadable(object: unknown, problem: string): ApiError {
  const causes = [fieldInvalid("patch", stringifyJson(object), problem)];
  return ApiError.invalid({ kind: { group: "", kind: "" }, name: "", causes });
}

const APPLY = "application/apply-patch+yaml";

/** Prepares a server-side apply: the fields that the manager wants the object to have. */
export async function applying(
  patch: SentPatch,
  request: WriteRequest & { readonly force: boolean },
  owners: FieldOwners,
): Promise<Making> {
  const { options, part, force } = request;
  const decoding = { accepted: [APPLY], yaml: patch.yaml, request: options };
  const { value, duplicates, others } = await decodeBody(patch.body, APPLY, decoding);
  if (!isJsonObject(value)) throw ApiError.badRequest("error decoding patch: it must be an object");
  const refuse = (problem: string): ApiError => ApiError.badRequest(`error strict decoding patch: ${problem}`);
  const change: Change = (copy) => {
    const config = cloneJson(value) as KubeObject;
    const { fieldManager: manager } = options;
    const about = { live: copy(), config, manager, force, subresource: part, now: new Date() };
    const object = owners.apply(about);
    normalizeMetadata(object);
    checkPlace(object, patch.key);
    return { object, by: "applying" };
  };
  return { change, unknown: once(() => reportFindings({ duplicates, others, unknown: [] }, { ...options, refuse })) };
}
